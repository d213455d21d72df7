/**
 * What a new pod of a rightsized workload gets, in place of its template's values.
 *
 * @module
 */
import type { Resources } from "../../api/pod.ts";
import { keepClass } from "../../rightsizing/guards/keep_class.ts";
import { capRequests, podLevelProblem } from "../../rightsizing/guards/request_above_limit.ts";
import {
  fieldOf,
  pair,
  PAIR_SIDES,
  type PairEntry,
  pairOf,
  RESOURCE_NAMES,
  type WantedContainer,
  wantedOf,
} from "../../rightsizing/guards/wanted_resources.ts";
import { containerResources, type Quantities } from "../resize_patch.ts";
import { isObject, readCreatedPod, readResources } from "./created_pod.ts";

/** A step of a JSON patch (RFC 6902). */
export interface CreationStep {
  readonly op: "add" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/**
 * The steps that give the pod, raw as an admission review has it, these values by container name: what
 * pods of the workload that were resized in place have, so that all are alike. Init containers, sidecars
 * too, stay as they are, and so does a limit where there is no request; requests stay within limits, and the pod in its QoS class, where need be by
 * leaving it alone. No steps where it has the values already. Throws a `TypeError` or `SyntaxError` for
 * a pod that can't be read.
 */
export function podCreationPatch(
  pod: unknown,
  values: ReadonlyMap<string, Resources>,
): readonly CreationStep[] {
  const { containers, subject } = readCreatedPod(pod);
  const own = subject.containers.slice(0, containers.length);
  const asked = wantedOf(own.flatMap((present): PairEntry[] => {
    const found = values.get(present.name) ?? {};
    return RESOURCE_NAMES.map((resource) => {
      const request = found[fieldOf(resource, "request")];
      // Where there is no request the server would take a limit for one.
      const hasRequest = (request ?? present[fieldOf(resource, "request")]) !== undefined;
      const limit = hasRequest ? found[fieldOf(resource, "limit")] : undefined;
      return { container: present.name, resource, pair: pair(request, limit) };
    });
  }));
  const kept = keepClass(asked, [subject]);
  if ("problem" in kept) return [];
  const wanted = capRequests(kept.wanted, [subject]);
  if (podLevelProblem(subject, wanted) !== undefined) return [];
  return own.flatMap((present, index) => {
    const raw = containers[index]?.resources;
    const fields = changedFields(present, {
      wanted: wanted.get(present.name) ?? {},
      written: readResources(raw),
    });
    if (Object.keys(fields).length === 0) return [];
    const { resources } = containerResources({ name: present.name, ...fields });
    return steps(`/spec/containers/${index}/resources`, { raw, resources });
  });
}

interface Values {
  readonly wanted: WantedContainer;
  /** What stands in the pod, without the server's defaults. */
  readonly written: Resources;
}

/**
 * Both halves of each pair that differs, as far as they are not written yet: a request that has only
 * been the default for its limit would follow that.
 */
function changedFields(present: Resources, { wanted, written }: Values): Resources {
  const fields = RESOURCE_NAMES.flatMap((resource) => {
    const before = pairOf(present, resource);
    const after = { ...before, ...wanted[resource] };
    if (after.request === before.request && after.limit === before.limit) return [];
    return PAIR_SIDES.flatMap((side) => {
      const field = fieldOf(resource, side);
      return after[side] === written[field] ? [] : [[field, after[side]] as const];
    });
  });
  return Object.fromEntries(fields);
}

interface Change {
  /** What the container has under `resources`. */
  readonly raw: unknown;
  readonly resources: Readonly<Partial<Record<"requests" | "limits", Quantities>>>;
}

/** A step adds what is not there with all that is below it; what is there is replaced one by one. */
function steps(path: string, { raw, resources }: Change): CreationStep[] {
  if (!isObject(raw)) return [{ op: "add", path, value: resources }];
  return Object.entries(resources).flatMap(([side, quantities]): CreationStep[] => {
    const present = raw[side];
    if (!isObject(present)) return [{ op: "add", path: `${path}/${side}`, value: quantities }];
    return Object.entries(quantities).map(([name, value]) => ({
      op: Object.hasOwn(present, name) ? "replace" : "add",
      path: `${path}/${side}/${name}`,
      value,
    }));
  });
}
