/**
 * The patch of a new pod of a rightsized workload, which gives it the values in force.
 *
 * @module
 */
import {
  NO_RESOURCES,
  type Pod,
  type PodContainer,
  type ResourceAmounts,
  type Resources,
} from "../api/pod.ts";
import { isMembers } from "../members.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { keepClass } from "../resize/checks/qos_class.ts";
import { capRequests, podLevelProblem } from "../resize/checks/request_within_limit.ts";
import { qosClassOfPod } from "../resize/inputs/qos.ts";
import {
  byResource,
  hasAmounts,
  pair,
  type PairEntry,
  pairOf,
  RESOURCE_NAMES,
  resourcesOf,
  wantedOf,
  withDefaultRequests,
} from "../resize/inputs/resources.ts";
import type { Subject } from "../resize/inputs/subject.ts";
import { containerResources, type Quantities } from "../resize/patch.ts";

/** A step of a JSON patch (RFC 6902). */
export interface CreationStep {
  readonly op: "add" | "replace";
  readonly path: string;
  readonly value: unknown;
}

/**
 * The steps that give the pod these values by container name, which pods of the workload that were resized
 * in place have. Init containers and sidecars stay as they are, and so does a limit where there is no
 * request; requests stay within limits, and the pod in its QoS class, where need be by leaving it alone.
 * No steps where it has the values already.
 */
export function podCreationPatch(
  { containers, subject }: CreatedPod,
  values: ReadonlyMap<string, Resources>,
): readonly CreationStep[] {
  const own = subject.containers.slice(0, containers.length);
  const asked = wantedOf(own.flatMap((present): PairEntry[] => {
    const found = values.get(present.name) ?? NO_RESOURCES;
    return RESOURCE_NAMES.map((resource) => {
      const request = found.requests[resource];
      // Where there is no request the server would take a limit for one.
      const hasRequest = (request ?? present.requests[resource]) !== undefined;
      const limit = hasRequest ? found.limits[resource] : undefined;
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
      wanted: wanted.get(present.name) ?? NO_RESOURCES,
      written: readResources(raw),
    });
    if (!hasAmounts(fields)) return [];
    const { resources } = containerResources({ name: present.name, ...fields });
    return steps(`/spec/containers/${index}/resources`, { raw, resources });
  });
}

interface Values {
  readonly wanted: Resources;
  /** What stands in the pod, without the server's defaults. */
  readonly written: Resources;
}

/**
 * Both halves of each pair that differs, as far as they are not written yet: a request that has only
 * been the default for its limit would follow that.
 */
function changedFields(present: Resources, { wanted, written }: Values): Resources {
  return resourcesOf(byResource((resource) => {
    const before = pairOf(present, resource);
    const { request, limit } = { ...before, ...pairOf(wanted, resource) };
    if (request === before.request && limit === before.limit) return undefined;
    return pair(
      request === written.requests[resource] ? undefined : request,
      limit === written.limits[resource] ? undefined : limit,
    );
  }));
}

interface Change {
  /** What the container has under `resources`. */
  readonly raw: unknown;
  readonly resources: Readonly<Partial<Record<"requests" | "limits", Quantities>>>;
}

/** A step adds what is not there with all that is below it; what is there is replaced one by one. */
function steps(path: string, { raw, resources }: Change): CreationStep[] {
  if (!isMembers(raw)) return [{ op: "add", path, value: resources }];
  return Object.entries(resources).flatMap(([side, quantities]): CreationStep[] => {
    const present = raw[side];
    if (!isMembers(present)) return [{ op: "add", path: `${path}/${side}`, value: quantities }];
    return Object.entries(quantities).map(([name, value]) => ({
      op: Object.hasOwn(present, name) ? "replace" : "add",
      path: `${path}/${side}/${name}`,
      value,
    }));
  });
}

/** Members of an object that was sent. */
export type Members = Readonly<Record<string, unknown>>;

/** What was sent, and what it comes to. */
export interface CreatedPod {
  /** Raw, in their order, and first among those of the subject. */
  readonly containers: readonly Members[];
  /** Sidecars stand behind the containers, as in any pod that is read. */
  readonly subject: Subject;
}

/** Reads a pod, raw as an admission review has it. Throws a `TypeError` or `SyntaxError` where it can't be read. */
export function readCreatedPod(pod: unknown): CreatedPod {
  const spec = isMembers(pod) ? pod.spec : undefined;
  if (!isMembers(spec) || !Array.isArray(spec.containers)) {
    throw new TypeError("Cannot read a new pod: it has no spec.containers");
  }
  const containers = spec.containers.filter(isMembers);
  if (containers.length < spec.containers.length) {
    throw new TypeError("Cannot read a new pod: an item of spec.containers is no object");
  }
  const inits = Array.isArray(spec.initContainers) ? spec.initContainers.filter(isMembers) : [];
  const podLevel = readResources(spec.resources);
  const started = inits.map((one) => ({
    ...readContainer(one),
    sidecar: one.restartPolicy === "Always",
  }));
  const read: Pick<Pod, "containers" | "initContainers" | "podLevel"> = {
    containers: [...containers.map(readContainer), ...started.filter(({ sidecar }) => sidecar)],
    initContainers: started.flatMap((one, index) => {
      const sidecarsBefore = started.slice(0, index).filter(({ sidecar }) => sidecar).length;
      return one.sidecar ? [] : [{ ...one, sidecarsBefore }];
    }),
    ...(hasAmounts(podLevel) ? { podLevel } : {}),
  };
  const qosClass = qosClassOfPod(read);
  const subject = { ...read, name: "the pod", qosClass, marketLimits: false, count: 1 };
  return { containers, subject };
}

function readContainer({ name, resources }: Members): PodContainer {
  if (typeof name !== "string") {
    throw new TypeError("Cannot read a new pod: a container has no name");
  }
  const container = {
    name,
    sidecar: false,
    ready: false,
    restartsOnCPU: false,
    applied: NO_RESOURCES,
  };
  return withDefaultRequests({ ...container, ...readResources(resources) });
}

/** Requests and limits as they are written. Throws a `SyntaxError` for a quantity that is none. */
export function readResources(raw: unknown): Resources {
  const { requests, limits } = isMembers(raw) ? raw : {};
  return { requests: readAmounts(requests), limits: readAmounts(limits) };
}

function readAmounts(raw: unknown): ResourceAmounts {
  return byResource((name) => {
    const quantity = isMembers(raw) ? raw[name] : undefined;
    if (quantity === undefined || quantity === null) return undefined;
    // JSON lets a quantity be a number, too.
    return name === "cpu" ? parseCPU(String(quantity)) : parseBytes(String(quantity));
  });
}
