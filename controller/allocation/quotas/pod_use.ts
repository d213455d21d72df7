/**
 * One pod's use of the quotas of its namespace.
 *
 * @module
 */
import { defined } from "../../../shared/defined.ts";
import { isFinished, type Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ScopedPod } from "../../../shared/resize/checks/resource_quota.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { presentLimits, withCPU } from "../../../shared/resize/inputs/subject.ts";
import { podTotal } from "../../../shared/resize/inputs/resources.ts";
import { isSystemCritical } from "../bounds/bid_rules.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import type { QuotaBid } from "./quota_bids.ts";
import type { QuotaResource } from "./quota_ledger.ts";

/** Millicores that quotas count for a pod in one resource. */
export interface ResourceUse {
  /** By its spec. */
  readonly used: number;
  /** By its original values: what a new pod of the same template takes. */
  readonly original: number;
  /** Beside its bids. */
  readonly fixed: number;
  /** Less of it, if the limits that may be lowered came down to their ceilings. */
  readonly raise: number;
}

/** A pod's use of the quotas of its namespace: some 400 bytes. */
export interface PodUse extends Readonly<Record<QuotaResource, ResourceUse>> {
  readonly scoped: ScopedPod;
  /** The bids of its containers for the quotas; empty for a pod with fixed limits. */
  readonly bids: readonly QuotaBid[];
  /** True when its requests are raised with its limits. */
  readonly movesRequest: boolean;
}

/** The use by pod and allocation; undefined for a pod that has ended. */
export function podUseOf(
  pod: Pod,
  { allocation, bids }: {
    readonly allocation: PodAllocation | undefined;
    readonly bids: readonly QuotaBid[];
  },
): PodUse | undefined {
  if (isFinished(pod)) return undefined;
  const moves = movesRequest(pod);
  const { originalLimits, originalRequests } = allocation?.status ?? {};
  const floors = new Map(bids.map(({ name, floor }) => [name, floor]));
  const floor = bids.reduce((sum, one) => sum + one.floor, 0);
  const useOf = (side: QuotaResource, values: ReadonlyMap<string, number>): ResourceUse => ({
    used: counted(pod, side),
    original: counted(withCPU(pod, { side, values }), side),
    fixed: counted(withCPU(pod, { side, values: floors }), side) - floor,
    raise: raiseOf(pod, allocation),
  });
  const { qosClass, hasDeadline, priorityClassName } = pod;
  const used = counted(pod, "requests");
  return {
    scoped: { qosClass, ...defined({ hasDeadline, priorityClassName }) },
    bids,
    movesRequest: moves,
    limits: useOf("limits", originalValues(originalLimits)),
    requests: moves
      ? useOf("requests", originalValues(originalRequests))
      : { used, original: used, fixed: used, raise: 0 },
  };
}

/**
 * The pod's total as the server's quota counts it (`PodRequests()` and `PodLimits()` of
 * k8s.io/component-helpers): with init containers beside the sidecars that run then, pod-level values,
 * and overhead, which adds to a limit only where there is one.
 */
function counted(pod: Pod, side: QuotaResource): number {
  const total = podTotal(pod, (one) => one[side].cpu) ?? 0;
  const { overheadCPU = 0 } = pod;
  return total === 0 && side === "limits" ? 0 : total + overheadCPU;
}

/**
 * Millicores that the pod can give back: its limits above the published ceilings, but for containers
 * with the hold `both`. The hold `lower` protects only system-critical pods: a raise that keeps new pods
 * from being created does more harm than its end does to this one.
 */
function raiseOf(pod: Pod, allocation: PodAllocation | undefined): number {
  if (pod.metadata.terminating || isSystemCritical(pod)) return 0;
  const ceilings = originalValues(allocation?.status?.originalLimits);
  for (const { name, ceiling, held } of allocation?.status?.bounds?.containers ?? []) {
    ceilings.set(name, held === "both" ? Infinity : Math.max(ceiling, ceilings.get(name) ?? 0));
  }
  const lowered = new Map(
    Array.from(
      presentLimits(pod),
      ([name, cpu]) => [name, Math.min(cpu, ceilings.get(name) ?? cpu)],
    ),
  );
  return counted(pod, "limits") -
    counted(withCPU(pod, { side: "limits", values: lowered }), "limits");
}
