/**
 * Finds the original limits of pods, restores those of one pod, and waits for the kubelet's confirmation.
 *
 * @module
 */
import { unlessNotFound } from "../../../adapters/kube/client/connection.ts";
import { decide, type Decision, RESTORE_CHAIN } from "../../../shared/resize/chain.ts";
import type { PodInput } from "../../../shared/resize/inputs/resize_input.ts";
import { INFEASIBLE_REASONS } from "../../../shared/resize/inputs/resize_condition.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import {
  limitsAreOurs,
  originalLimitsOf,
  originalValues,
} from "../../../shared/resize/original_limits.ts";
import { resizePatch } from "../../../shared/resize/patch.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import type { Clock } from "../../../shared/clock.ts";
import { type PollEnd, pollPod } from "../poll_pod.ts";
import type { ClusterReader, LimitWriter } from "../ports.ts";
import type { Original, PodAllocation } from "../../../shared/api/pod_allocation.ts";

/** A pod and its original limits, millicores by container name. */
export interface RestorePlan {
  readonly pod: Pod;
  readonly originalLimits: ReadonlyMap<string, number>;
  /** Original limits in the allocation. */
  readonly recorded?: readonly Original[] | undefined;
  readonly record: "allocation" | "pod" | "template";
}

/** The pods to restore, and the others. */
export interface RestorePlans {
  readonly plans: readonly RestorePlan[];
  /** Pods with limits of this product, and unknown original limits. */
  readonly unrecorded: readonly Pod[];
  /** Number of pods with original limits. */
  readonly untouched: number;
}

/** The original limits by the present pod, or else by its allocation; undefined when neither has them. */
function originalsNow(
  pod: Pod,
  recorded: readonly Original[] | undefined,
): ReadonlyMap<string, number> | undefined {
  const originals = originalLimitsOf(pod, { recorded });
  return originals && originalValues(originals);
}

/** Plans the restore of pods with known original limits. */
export function restorePlans(
  pods: readonly Pod[],
  allocations: readonly PodAllocation[],
): RestorePlans {
  const byUID = new Map(allocations.map((one) => [one.spec.podUID, one]));
  const plans: RestorePlan[] = [];
  const unrecorded: Pod[] = [];
  let untouched = 0;
  for (const pod of pods) {
    const recorded = byUID.get(pod.metadata.uid)?.status?.originalLimits;
    const originalLimits = originalsNow(pod, recorded);
    if (recorded === undefined && !limitsAreOurs(pod)) untouched++;
    else if (originalLimits === undefined) unrecorded.push(pod);
    else plans.push({ pod, originalLimits, recorded, record: recorded ? "allocation" : "pod" });
  }
  return { plans, unrecorded, untouched };
}

/**
 * Allocations of a namespace, or of all. None where the CustomResourceDefinition is gone: then templates may
 * still have the original limits.
 */
export async function allocationsOnRecord(
  reader: Pick<ClusterReader, "allocations">,
  namespace?: string,
): Promise<readonly PodAllocation[]> {
  return await unlessNotFound(reader.allocations(namespace)) ?? [];
}

/** One container's limit, millicores. */
export interface LimitStep {
  readonly container: string;
  readonly from?: number;
  readonly to: number;
  /** The request goes with the limit: the pod is Guaranteed. */
  readonly withRequest?: true;
}

/** The result of restoring a pod. */
export interface RestoreResult {
  readonly namespace: string;
  readonly pod: string;
  /** `Restored`, or why not. */
  readonly outcome: EnforcementReason;
  readonly message: string;
  readonly steps: readonly LimitStep[];
  /** Time that it took, ms. */
  readonly tookMs: number;
}

/** Ports of a restore. */
export interface RestoreParts {
  readonly reader: Pick<ClusterReader, "pod" | "limitInput">;
  /** Writes as field manager `mbcas-restore`. */
  readonly writer: LimitWriter;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** How long to wait for the kubelet, ms. */
  readonly timeoutMs: number;
}

/** Outcomes after which there is nothing left to restore. */
const DONE: ReadonlySet<EnforcementReason> = new Set(["Restored", "PodGone", "NotRunning"]);

/** True when nothing is left to restore of the pod. */
export function isDone({ outcome }: Pick<RestoreResult, "outcome">): boolean {
  return DONE.has(outcome);
}

/** Limits that would change. */
export function restoreSteps({ pod, originalLimits }: RestorePlan): LimitStep[] {
  return pod.containers.flatMap(({ name, limits: { cpu: limitCPU } }) => {
    const original = originalLimits.get(name);
    if (original === undefined || original === limitCPU) return [];
    return [limitStep(pod, { container: name, from: limitCPU, to: original })];
  });
}

/** A step of this pod. */
export function limitStep(
  pod: Pod,
  { container, from, to }: {
    readonly container: string;
    readonly from: number | undefined;
    readonly to: number;
  },
): LimitStep {
  return {
    container,
    ...(from === undefined ? {} : { from }),
    to,
    ...(movesRequest(pod) ? { withRequest: true } : {}),
  };
}

/** Sends the patch and waits; a refusal is a result. Rejects only for faults of the program. */
export async function restorePod(plan: RestorePlan, parts: RestoreParts): Promise<RestoreResult> {
  const { clock, reader, writer } = parts;
  const { namespace, name } = plan.pod.metadata;
  const began = clock.monotonic();
  const steps = restoreSteps(plan);
  const verdict = await pollPod(plan.pod.metadata, {
    ...parts,
    async check(pod) {
      // Another client may have set another limit since the plan was made.
      const originalLimits = originalsNow(pod, plan.recorded) ?? plan.originalLimits;
      const wanted = decisionFor(pod, { originalLimits });
      // Reads LimitRanges and node only if there is something to send.
      const decision = wanted.changes.length === 0
        ? wanted
        : decisionFor(pod, { originalLimits, input: await reader.limitInput(pod) });
      if (decision.changes.length === 0) return endWithoutPatch(decision);
      const { uid, resourceVersion } = pod.metadata;
      const patch = resizePatch(uid, decision.changes, { resourceVersion });
      await writer.resize({ namespace, name }, patch);
      return { reason: "ResizeInProgress", message: "the kubelet has not reported the limits yet" };
    },
  });
  const blocked = verdict.refusal === undefined ? {} : { outcome: "RestoreBlocked" as const };
  const { reason: outcome, message } = verdict;
  const tookMs = clock.monotonic() - began;
  return { namespace, pod: name, outcome, message, steps, tookMs, ...blocked };
}

function decisionFor(
  pod: Pod,
  { originalLimits, input = {} }: Pick<RestorePlan, "originalLimits"> & {
    readonly input?: Pick<PodInput, "limitRange">;
  },
): Decision {
  const allocation = standInAllocation(pod);
  return decide(RESTORE_CHAIN, { ...input, pod, allocation }, { limits: originalLimits });
}

/** The result for a pod that needs no patch now. */
function endWithoutPatch({ reason, message = "" }: Decision): PollEnd {
  if (reason === undefined || reason === "Applied") {
    return { reason: "Restored", message: "the pod has its original limits" };
  }
  return { reason: INFEASIBLE_REASONS.has(reason) ? "RestoreBlocked" : reason, message };
}

/** An allocation with the identity of the pod only. */
function standInAllocation({ metadata, nodeName }: Pod): PodAllocation {
  const { name: podName, namespace, uid: podUID } = metadata;
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: podUID, namespace, uid: "", resourceVersion: "" },
    spec: { podName, podUID, nodeName, namespace },
  };
}
