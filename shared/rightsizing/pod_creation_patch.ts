/**
 * The patch of a new pod of a rightsized workload, which gives it the values in force.
 *
 * @module
 */
import { isMembers } from "../members.ts";
import { NO_RESOURCES, type Resources, withResources } from "../api/pod.ts";
import type { PodTemplate } from "../api/workload.ts";
import { keepClass } from "../resize/checks/qos_class.ts";
import { capRequests, podLevelProblem } from "../resize/checks/request_within_limit.ts";
import { byResource, hasAmounts, RESOURCE_SIDES } from "../resize/inputs/resources.ts";
import { madeSubject } from "../resize/inputs/subject.ts";
import { containerResources } from "../resize/patch.ts";

/** A pod that is to be created. */
export interface CreatedPod {
  /** `spec.containers` as they were sent. */
  readonly raw: readonly { readonly resources?: unknown }[];
  /** The same as they are read, without the server's defaults; sidecars stand behind them. */
  readonly template: PodTemplate;
}

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
  { raw, template }: CreatedPod,
  values: ReadonlyMap<string, Resources>,
): readonly CreationStep[] {
  const subject = madeSubject(template, { name: "the pod", count: 1 });
  const own = subject.containers.slice(0, raw.length);
  const asked = new Map(own.map((present) => {
    const { requests, limits } = values.get(present.name) ?? NO_RESOURCES;
    // Where there is no request the server would take a limit for one.
    const limited = byResource((name) =>
      (requests[name] ?? present.requests[name]) === undefined ? undefined : limits[name]
    );
    return [present.name, { requests, limits: limited }];
  }));
  const kept = keepClass(asked, [subject]);
  if ("problem" in kept) return [];
  const wanted = capRequests(kept.wanted, [subject]);
  if (podLevelProblem(subject, wanted) !== undefined) return [];
  return own.flatMap((present, index) => {
    const after = withResources(present, wanted.get(present.name) ?? NO_RESOURCES);
    const fields = changedFields(present, after, template.containers[index] ?? NO_RESOURCES);
    if (!hasAmounts(fields)) return [];
    const { resources } = containerResources({ name: present.name, ...fields });
    return stepsBelow(`/spec/containers/${index}/resources`, raw[index]?.resources, resources);
  });
}

/**
 * Both halves of each pair that differs, as far as they are not written in the pod yet: a request that has
 * only been the default for its limit would follow that.
 */
function changedFields(present: Resources, after: Resources, written: Resources): Resources {
  const of = (side: keyof Resources) =>
    byResource((name) => {
      const isSame = RESOURCE_SIDES.every((one) => present[one][name] === after[one][name]);
      const amount = after[side][name];
      return isSame || amount === written[side][name] ? undefined : amount;
    });
  return { requests: of("requests"), limits: of("limits") };
}

/** A step adds what is not there with all that is below it; what is there is replaced one by one. */
function stepsBelow(path: string, present: unknown, value: object): CreationStep[] {
  if (!isMembers(present)) return [{ op: "add", path, value }];
  return Object.entries(value).flatMap(([name, member]: [string, unknown]): CreationStep[] =>
    typeof member === "object" && member !== null
      ? stepsBelow(`${path}/${name}`, present[name], member)
      : [{
        op: Object.hasOwn(present, name) ? "replace" : "add",
        path: `${path}/${name}`,
        value: member,
      }]
  );
}
