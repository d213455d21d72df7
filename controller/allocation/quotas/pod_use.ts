/**
 * What one pod means for the quotas of its namespace.
 *
 * @module
 */
import type { Pod, Resources } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { withLimits } from "../../../shared/resize/inputs/subject.ts";
import { podTotal } from "../../../shared/resize/inputs/resources.ts";
import { isFinished } from "../../../shared/resize/scope.ts";
import { isSystemCritical } from "../bid_rules/system_critical.ts";
import { originalValues } from "../../../shared/resize/original_limits.ts";
import type { QuotaBid } from "./quota_bids.ts";

/** A pod's part in a namespace, millicores. */
export interface PodUse {
  /** What quotas count of it, as its spec has it now. */
  readonly limits: number;
  readonly requests: number;
  /** The same of the user's own values, not those that were raised: what another such pod asks for. */
  readonly originalLimits: number;
  readonly ownRequests: number;
  /** What quotas count of it beside its bids. */
  readonly fixedLimits: number;
  readonly fixedRequests: number;
  /** The bids of its containers for the quotas; empty for a pod with fixed limits. */
  readonly bids: readonly QuotaBid[];
  /** What quotas would count less of it if its limits were at their ceilings, and that may be. */
  readonly raise: number;
  /** True when its raises take requests, too. */
  readonly moves: boolean;
}

/** As pod and allocation have it now; undefined for a pod that has ended. */
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
  const own = originalValues(originalLimits);
  const ownRequest = moves ? originalValues(originalRequests) : new Map<string, number>();
  const ownPod = withLimits(pod, { limits: own, requests: ownRequest });
  const floors = new Map(bids.map(({ name, floor }) => [name, floor]));
  const atFloors = withLimits(pod, { limits: floors, requests: moves ? floors : new Map() });
  const floor = bids.reduce((sum, one) => sum + one.floor, 0);
  return {
    limits: counted(pod, "limits"),
    requests: counted(pod, "requests"),
    originalLimits: counted(ownPod, "limits"),
    ownRequests: counted(ownPod, "requests"),
    fixedLimits: counted(atFloors, "limits") - floor,
    fixedRequests: counted(atFloors, "requests") - (moves ? floor : 0),
    bids,
    raise: raiseOf(pod, { own, allocation }),
    moves,
  };
}

/**
 * As the server's quota counts it (`PodRequests()` and `PodLimits()` of k8s.io/component-helpers): init
 * containers beside the sidecars that run then, what is said of the pod as a whole, and its overhead,
 * which adds to a limit only where there is one.
 */
function counted(pod: Pod, side: keyof Resources): number {
  const total = podTotal(pod, (one) => one[side].cpu) ?? 0;
  const { overheadCPU = 0 } = pod;
  return total === 0 && side === "limits" ? 0 : total + overheadCPU;
}

/**
 * What may be taken back from the pod: its limits above the published ceilings, of containers that are
 * not held as they are. A hold from below does not count but for pods that the system can't do without:
 * a raise that keeps other pods from existing does more harm than its end does to this one.
 */
function raiseOf(
  pod: Pod,
  { own, allocation }: {
    readonly own: ReadonlyMap<string, number>;
    readonly allocation: PodAllocation | undefined;
  },
): number {
  if (pod.metadata.terminating || isSystemCritical(pod)) return 0;
  const most = new Map(own);
  for (const { name, ceiling, held } of allocation?.status?.bounds?.containers ?? []) {
    most.set(name, held === "both" ? Infinity : Math.max(ceiling, own.get(name) ?? 0));
  }
  const limits = new Map(
    pod.containers.flatMap(({ name, limits: { cpu } }): [string, number][] =>
      cpu === undefined ? [] : [[name, Math.min(cpu, most.get(name) ?? cpu)]]
    ),
  );
  const lowered = withLimits(pod, { limits });
  return counted(pod, "limits") - counted(lowered, "limits");
}
