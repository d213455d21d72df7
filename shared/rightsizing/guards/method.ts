/**
 * The pods that values must fit, the method that applies them (in place or by recreation), and the changes of
 * each pod.
 *
 * @module
 */
import {
  NO_RESOURCES,
  type Pod,
  type ResourceAmounts,
  type Resources,
  withResources,
} from "../../api/pod.ts";
import {
  containersWanted,
  limitsOf,
  newPodSubject,
  podSubject,
  type Subject,
} from "../../resize/inputs/subject.ts";
import type { ApplyMethod, GuardVerdict, RightsizingSnapshot } from "./rightsizing_snapshot.ts";
import { neverResizable } from "../../resize/checks/platform.ts";
import {
  disruptions,
  type DisruptionsAsked,
  disruptionVerdict,
} from "../../resize/checks/restart_policy.ts";
import { byResource, hasAmounts, type WantedResources } from "../../resize/inputs/resources.ts";
import { isTooMuch } from "../../resize/checks/node_capacity.ts";
import type { ResourceChange } from "../../resize/patch.ts";

/**
 * The pods that the wanted values are compared with, and must fit. In place: each pod, and new ones, which get
 * the values in force instead of the template's. By recreation: pods of the template. Without a method: as in
 * place.
 */
export function presentSubjects(
  snapshot: RightsizingSnapshot,
  method: ApplyMethod | undefined,
): readonly Subject[] {
  const { pods, workload: { template, replicas }, marketManages } = snapshot;
  if (method === "Recreate") {
    return [newPodSubject(template, { name: "the template", count: replicas })];
  }
  const subjects = pods.map((pod) => podSubject(pod, { marketLimits: marketManages }));
  return [...subjects, newPods(snapshot, pods.length === 0 ? replicas : 0)];
}

/**
 * The pods that the wanted values must fit: those of `presentSubjects()`, and by recreation also new pods, which
 * get values in force for other containers or resources beside the template's.
 */
export function fittedSubjects(
  snapshot: RightsizingSnapshot,
  method: ApplyMethod | undefined,
): readonly Subject[] {
  const present = presentSubjects(snapshot, method);
  return method === "Recreate" && snapshot.inForce.size > 0
    ? [...present, newPods(snapshot, 0)]
    : present;
}

function newPods({ workload: { template }, inForce }: RightsizingSnapshot, count: number): Subject {
  return newPodSubject(template, { name: "new pods", count, values: inForce });
}

/** Why the pods can't be resized in place, whatever the policy allows; undefined when they can. */
function inPlaceProblem(
  { resizeServed, pods, nodes }: RightsizingSnapshot,
): string | undefined {
  if (!resizeServed) return "the server does not serve pods/resize";
  for (const pod of pods) {
    const found = neverResizable({ pod, node: nodes.get(pod.nodeName) });
    if (found !== undefined) return `pod ${pod.metadata.name}: ${found.message}`;
  }
  return undefined;
}

/**
 * The method that policy and platform allow for these values; undefined: none. Values that a resize in place
 * can't set without a restart need new pods, where the policy allows these.
 */
export function methodFor(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): ApplyMethod | undefined {
  const { allowInPlaceResize, allowRecreate } = snapshot.policy.updateStrategy;
  const isOpen = allowInPlaceResize && inPlaceProblem(snapshot) === undefined;
  if (!allowRecreate) return isOpen ? "InPlace" : undefined;
  return isOpen && disruptions(wanted, disruptionInput(snapshot)).length === 0
    ? "InPlace"
    : "Recreate";
}

/** Running pods, and whether their memory limits may be lowered. */
function disruptionInput(snapshot: RightsizingSnapshot): DisruptionsAsked {
  const { lowersMemoryLimits } = snapshot;
  const subjects = presentSubjects(snapshot, "InPlace").filter(({ nodeName }) =>
    nodeName !== undefined
  );
  return { subjects, lowersMemoryLimits };
}

/**
 * Holds where neither method is possible. Where only a resize in place is, leaves out each resource that would
 * need a restart.
 */
export function noMethod(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  if (methodFor(snapshot, wanted) === "Recreate") return undefined;
  return inPlaceVerdict(snapshot, wanted, {
    notAllowed: "allowInPlaceResize and allowRecreate are both false",
    unavailable: "and allowRecreate is false",
  });
}

/**
 * As `noMethod()`, for pods that lack the values in force: these get them in place or not at all.
 */
export function noWayInPlace(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const unavailable = "and no pod is recreated for what is in force";
  const notAllowed = `allowInPlaceResize is false, ${unavailable}`;
  return inPlaceVerdict(snapshot, wanted, { notAllowed, unavailable });
}

function inPlaceVerdict(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
  messages: { readonly notAllowed: string; readonly unavailable: string },
): GuardVerdict {
  if (!snapshot.policy.updateStrategy.allowInPlaceResize) {
    return { verdict: "hold", reason: "MethodNotAllowed", message: messages.notAllowed };
  }
  const problem = inPlaceProblem(snapshot);
  if (problem === undefined) return disruptionVerdict(wanted, disruptionInput(snapshot));
  const message = `${problem}, ${messages.unavailable}`;
  return { verdict: "hold", reason: "InPlaceResizeUnavailable", message };
}

/** The changes to make, and the values in force from then on. */
export interface InPlacePlan {
  readonly pods: readonly {
    readonly pod: Pod;
    /** One at least; only values that differ. */
    readonly changes: readonly ResourceChange[];
  }[];
  /**
   * New original limits, millicores by container, where the market owns `limits.cpu` of the pods: the base
   * of their ceilings. Empty where the limit is patched itself.
   */
  readonly originalLimits: ReadonlyMap<string, number>;
  /** Values of the workload's new pods, by container. */
  readonly inForce: ReadonlyMap<string, Resources>;
}

/**
 * The plan for wanted values that all guards have let pass. Leaves out pods that have them already, and pods on
 * a node that is too small for them: a kubelet would reject that as infeasible, and never retry.
 */
export function inPlacePlan(snapshot: RightsizingSnapshot, wanted: WantedResources): InPlacePlan {
  const subjects = presentSubjects(snapshot, "InPlace");
  const pods = snapshot.pods.flatMap((pod, index): InPlacePlan["pods"] => {
    const subject = subjects[index];
    if (subject === undefined) return [];
    const after = containersWanted(subject, wanted);
    if (isTooMuch(subject, { after, node: snapshot.nodes.get(pod.nodeName) })) return [];
    const changes = pod.containers.flatMap((present, at): ResourceChange[] => {
      const { requests, limits } = after[at] ?? present;
      const changed = {
        requests: changedAmounts(present.requests, requests),
        limits: changedAmounts(present.limits, limits),
      };
      const { name, sidecar } = present;
      return hasAmounts(changed) ? [{ name, sidecar, ...changed }] : [];
    });
    return changes.length === 0 ? [] : [{ pod, changes }];
  });
  const inForce = new Map(snapshot.inForce);
  for (const [name, values] of wanted) {
    inForce.set(name, withResources(inForce.get(name) ?? NO_RESOURCES, values));
  }
  return { pods, originalLimits: snapshot.marketManages ? limitsOf(wanted) : new Map(), inForce };
}

/** The amounts that the container does not have yet. */
function changedAmounts(present: ResourceAmounts, wanted: ResourceAmounts): ResourceAmounts {
  return byResource((name) => wanted[name] === present[name] ? undefined : wanted[name]);
}
