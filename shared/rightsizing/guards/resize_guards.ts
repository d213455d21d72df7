/**
 * Guards that apply the rules of `shared/resize/checks/` to all pods of a workload, and to new ones.
 *
 * @module
 */
import type { ResourceName } from "../../api/pod.ts";
import { dividedByRequest, vpaConflict } from "../../resize/checks/autoscalers.ts";
import { defaultsProblem, rangeVerdict } from "../../resize/checks/limit_range.ts";
import { nodeShortages } from "../../resize/checks/node_capacity.ts";
import { classVerdict } from "../../resize/checks/qos_class.ts";
import { capRequests, podLevelProblem } from "../../resize/checks/request_within_limit.ts";
import { quotaVerdict } from "../../resize/checks/resource_quota.ts";
import { withoutPairs } from "../../resize/run_checks.ts";
import { cutRaises } from "../../resize/inputs/cut_raises.ts";
import {
  describeCut,
  formatAmount,
  podTotal,
  type WantedResources,
} from "../../resize/inputs/resources.ts";
import { pairIn, type Subject, subjectWanted } from "../../resize/inputs/subject.ts";
import { fittedSubjects, methodFor, presentSubjects } from "./method.ts";
import type { GuardVerdict, RightsizingSnapshot } from "./rightsizing_snapshot.ts";

/**
 * Leaves out the CPU or the memory of containers where an HPA scales on its utilisation, unless the policy
 * has `allowWithHPA`: with another request the HPA would see another utilisation for the same
 * load, and scale; and with less usage in each of more pods, the next recommendation would be less again.
 * Their limit stays too, since it caps the usage that the HPA sees. The other resource goes on.
 */
export function horizontalAutoscalerConflicts(
  { autoscalers, policy }: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  if (policy.updateStrategy.allowWithHPA) return undefined;
  return withoutPairs(wanted, "HPAConflict", {
    against: ({ container, resource }) => {
      const acting = autoscalers.find((one) =>
        dividedByRequest(one, resource).some((target) =>
          (target.container ?? container) === container
        )
      );
      return acting &&
        `HPA ${acting.metadata.name} divides the ${resource === "cpu" ? "CPU" : resource} usage ` +
          `of ${container} by its request, which stays`;
    },
  });
}

/** Leaves out resources that a VPA in any mode but `Off` controls. */
export function verticalAutoscalerConflicts(
  { verticalAutoscalers }: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  return withoutPairs(wanted, "VPAConflict", {
    against: ({ container, resource }) =>
      vpaConflict(verticalAutoscalers, { containers: [container], resource }),
  });
}

/** Clamps to the LimitRanges; holds where a resize would let the server write defaults into a pod. */
export function outsideRanges(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const { ranges, pods } = snapshot;
  const method = methodFor(snapshot, wanted);
  for (const pod of method === "InPlace" && wanted.size > 0 ? pods : []) {
    const problem = defaultsProblem(pod, ranges);
    if (problem === undefined) continue;
    const message = `pod ${pod.metadata.name}: ${problem}`;
    return { verdict: "hold", reason: "LimitRange", message };
  }
  return rangeVerdict(wanted, { ranges, subjects: fittedSubjects(snapshot, method) });
}

/** Cuts raises to the room in the quotas, summed over all pods. */
export function overQuotas(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const subjects = presentSubjects(snapshot, methodFor(snapshot, wanted));
  return quotaVerdict(wanted, { quotas: snapshot.quotas, subjects });
}

/**
 * Cuts requests to a node's allocatable, though not below the template's. For running pods that is their node,
 * since a kubelet rejects more as infeasible and never retries; for new pods the largest node, since they would
 * stay Pending with more. Requests of other pods are not counted: a kubelet defers a resize until there is room.
 *
 * A pod that lacks the values in force, on a node that is too small for them, cuts nothing, or all other pods
 * would be lowered with it. It stays as it is (see `inPlacePlan()`), and is reported.
 */
export function overNodes(snapshot: RightsizingSnapshot, wanted: WantedResources): GuardVerdict {
  const method = methodFor(snapshot, wanted);
  if (method === undefined) return undefined;
  const problems: string[] = [];
  let fitting = wanted;
  for (const subject of presentSubjects(snapshot, method)) {
    const { name, nodeName } = subject;
    const [owner, node] = nodeName === undefined
      ? ["the largest node", snapshot.largestNode] as const
      : [`node ${nodeName}`, snapshot.nodes.get(nodeName)] as const;
    const after = subjectWanted(subject, fitting);
    for (const { resource, most, total } of nodeShortages(after, node)) {
      const shortage =
        `${owner} has ${formatAmount(resource, most)} of ${resource}, ${name} would ` +
        `request ${formatAmount(resource, total)}`;
      if (requestsLessThanInForce(subject, resource, { snapshot })) {
        problems.push(`${shortage}, and stays as it is`);
        continue;
      }
      const base = (container: string): number =>
        snapshot.workload.template.containers.find((one) => one.name === container)
          ?.requests[resource] ?? 0;
      const cut = cutRaises(fitting, { resource, side: "requests", base, excess: total - most });
      if (cut === fitting) continue;
      fitting = cut;
      problems.push(shortage);
    }
  }
  if (problems.length === 0) return undefined;
  const note = { reason: "NodeCapacity", message: problems.join("; ") } as const;
  return fitting === wanted
    ? { verdict: "note", ...note }
    : { verdict: "clamp", ...note, wanted: fitting };
}

/** True for a running pod that lacks a part of the request in force. */
function requestsLessThanInForce(
  subject: Subject,
  resource: ResourceName,
  { snapshot: { inForce } }: { readonly snapshot: Pick<RightsizingSnapshot, "inForce"> },
): boolean {
  if (subject.nodeName === undefined) return false;
  const requested = (one: Subject): number =>
    podTotal(one, ({ requests }) => requests[resource]) ?? 0;
  return requested(subjectWanted(subject, inForce)) > requested(subject);
}

/** Clamps to values that keep the QoS class of each pod and of new ones; holds where no value does. */
export function qosWouldChange(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  return classVerdict(wanted, fittedSubjects(snapshot, methodFor(snapshot, wanted)));
}

/**
 * Cuts each request to the limit that its container has after the change, in each pod and in new ones. Holds
 * where a pod-level limit is exceeded.
 */
export function requestAboveLimit(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const subjects = fittedSubjects(snapshot, methodFor(snapshot, wanted));
  const capped = capRequests(wanted, subjects);
  for (const subject of subjects) {
    const problem = podLevelProblem(subject, capped);
    if (problem !== undefined) {
      return { verdict: "hold", reason: "PodLevelLimit", message: problem };
    }
  }
  const problems = describeCut(wanted, capped);
  if (problems === "") return undefined;
  const message = `a request may not be above its container's limit: ${problems}`;
  return { verdict: "clamp", reason: "RequestAboveLimit", message, wanted: capped };
}

/**
 * Leaves out raises while a node of the workload's pods is short of memory, disk or process IDs.
 * Decreases go on: they help.
 */
export function nodeUnderPressure(
  snapshot: RightsizingSnapshot,
  wanted: WantedResources,
): GuardVerdict {
  const pressed = presentSubjects(snapshot, "InPlace").flatMap((subject) => {
    const pressures = snapshot.nodes.get(subject.nodeName ?? "")?.pressures ?? [];
    return pressures.length === 0
      ? []
      : [{ subject, next: subjectWanted(subject, wanted), pressures }];
  });
  return withoutPairs(wanted, "NodePressure", {
    against: (entry) => {
      const found = pressed.find(({ subject, next }) => {
        const [present = {}, after = {}] = [pairIn(subject, entry), pairIn(next, entry)];
        return (after.request ?? 0) > (present.request ?? 0) ||
          (after.limit ?? Infinity) > (present.limit ?? Infinity);
      });
      return found && `no raise of ${entry.container} ${entry.resource}: ` +
          `node ${found.subject.nodeName} has ${found.pressures.join(", ")}`;
    },
  });
}
