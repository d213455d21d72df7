/**
 * What a reconcile asks about one workload: whether samples lack only for now, and which resizes are unfinished.
 *
 * @module
 */
import { INFEASIBLE_REASONS, resizeStatus } from "../resize/inputs/resize_condition.ts";
import { movesRequest } from "../resize/inputs/qos.ts";
import type { Pod, PodContainer } from "../api/pod.ts";
import type { EnforcementReason } from "../api/reasons/enforcement_reasons.ts";
import { ownContainers, type RightsizingFacts } from "./guards/rightsizing_facts.ts";
import type { WorkloadRecord } from "./workload_record.ts";

/** What there was enough for so long ago counts at least, ms. */
const LEAST_PATIENCE_MS = 3_600_000;

/**
 * Whether a workload that lacks samples now had enough of them within the last hour, or within the
 * window where that is longer, and still has half of what is needed. Where a window holds hardly more
 * than `minSamples`, it holds one less in every second cycle. Nothing is recommended in such a cycle, and
 * what was reported before stays.
 */
export function lacksSamplesBriefly(
  { nowMs, policy: { minSamples, windowMs }, samples, workload }: RightsizingFacts,
  { before, now }: {
    readonly before: WorkloadRecord | undefined;
    readonly now: Pick<WorkloadRecord, "uid" | "policy">;
  },
): boolean {
  if (before === undefined) return false;
  const { status, reason, recommendedAtMs = -Infinity, uid, policy } = before;
  if (status === "Error" || reason === "InsufficientSamples" || uid !== now.uid) return false;
  const { namespace, name } = now.policy;
  if (policy.namespace !== namespace || policy.name !== name) return false;
  if (nowMs - recommendedAtMs > Math.max(windowMs, LEAST_PATIENCE_MS)) return false;
  return ownContainers(workload).every((one) => (samples.get(one.name) ?? 0) * 2 >= minSamples);
}

/** What kubelets say of a resize that they have not done, all pods together. */
export interface UnfinishedResizes {
  /** The worst: what will never be done comes before what has failed, and that before what waits. */
  readonly reason: EnforcementReason;
  /** How many pods, and the message of the first one's kubelet. */
  readonly message: string;
}

/**
 * Undefined where no kubelet has anything against it, or all are still at work. Pods of the market are
 * resized all the time: there a condition counts only where a field of rightsizing is not in force.
 */
export function unfinishedResizes(
  pods: Iterable<Pod>,
  { marketManages }: { readonly marketManages: boolean },
): UnfinishedResizes | undefined {
  const found = [...pods]
    .filter((pod) => !marketManages || pod.containers.some((one) => lacksOwn(pod, one)))
    .map((pod) => ({ name: pod.metadata.name, ...resizeStatus(pod) }))
    .map((status) => ({ ...status, rank: rankOf(status.reason) }))
    .filter(({ rank }) => rank > 0)
    .toSorted((a, b) => b.rank - a.rank);
  const [worst] = found;
  return worst && {
    reason: worst.reason,
    message: `${found.length} pods, ${worst.name}: ${worst.message}`,
  };
}

/** 0: nothing is wrong. */
function rankOf(reason: EnforcementReason): number {
  if (INFEASIBLE_REASONS.has(reason)) return 3;
  return reason === "ResizeError" ? 2 : reason === "ResizeDeferred" ? 1 : 0;
}

/** Whether the kubelet has other requests, or another memory limit, than the spec by now. */
function lacksOwn(pod: Pod, container: PodContainer): boolean {
  const { sidecar, requests, limits, applied, allocated: { cpu, memory } = {} } = container;
  if (sidecar) return false;
  return !movesRequest(pod) && cpu !== undefined && cpu !== requests.cpu ||
    memory !== undefined && memory !== requests.memory ||
    applied.limits.memory !== undefined && applied.limits.memory !== limits.memory;
}
