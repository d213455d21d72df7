/**
 * What one pod means for the quotas of its namespace.
 *
 * @module
 */
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import { isFinished, isLive } from "../../../shared/actuation/scope.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { isSystemCritical } from "../bid_rules/system_critical.ts";
import { ownValues } from "../limits/own_limits.ts";

/** A pod's part in a namespace, millicores. */
export interface PodUse {
  /** Sums over its containers, as its spec has them now. */
  readonly limits: number;
  readonly requests: number;
  /** The same of the user's own values, not those that were raised: what another such pod asks for. */
  readonly ownLimits: number;
  readonly ownRequests: number;
  /** What may be taken back from it: its limits above its own. */
  readonly raise: number;
  /** True when its need has reached its ceiling: it has a share in what a quota leaves. */
  readonly claims: boolean;
  /** True when its raises take requests, too. */
  readonly moves: boolean;
}

/** As pod and allocation have it now; undefined for a pod that has ended. */
export function podUseOf(pod: Pod, allocation: PodAllocation | undefined): PodUse | undefined {
  if (isFinished(pod)) return undefined;
  const moves = movesRequest(pod);
  const { originalLimits, originalRequests } = allocation?.status ?? {};
  const own = ownValues(originalLimits);
  const ownRequest = moves ? ownValues(originalRequests) : new Map<string, number>();
  const use = { limits: 0, requests: 0, ownLimits: 0, ownRequests: 0 };
  for (const { name, limitCPU = 0, requestCPU = 0 } of pod.containers) {
    use.limits += limitCPU;
    use.requests += requestCPU;
    use.ownLimits += own.get(name) ?? limitCPU;
    use.ownRequests += ownRequest.get(name) ?? requestCPU;
  }
  return {
    ...use,
    raise: raiseOf(pod, { own, allocation }),
    claims: allocation?.spec.podUID === pod.metadata.uid && isLive(pod) && claims(allocation),
    moves,
  };
}

/**
 * What may be taken back from the pod: its limits above its own, of containers that are not held as
 * they are. A hold from below does not count but for pods that the system can't do without: a market's
 * raise that keeps others from existing does more harm than its end does to who has it.
 */
function raiseOf(
  pod: Pod,
  { own, allocation }: {
    readonly own: ReadonlyMap<string, number>;
    readonly allocation: PodAllocation | undefined;
  },
): number {
  if (pod.metadata.terminating || isSystemCritical(pod)) return 0;
  const held = new Set(
    allocation?.status?.bounds?.containers.filter((one) => one.held === "both")
      .map(({ name }) => name),
  );
  return pod.containers.reduce((sum, { name, limitCPU = 0 }) => {
    const ownLimit = own.get(name);
    if (ownLimit === undefined || held.has(name)) return sum;
    return sum + Math.max(0, limitCPU - ownLimit);
  }, 0);
}

function claims({ spec, status }: PodAllocation): boolean {
  const ceilings = status?.bounds?.containers ?? [];
  if (spec.market === undefined || ceilings.length === 0) return false;
  return spec.market.need >= ceilings.reduce((sum, { ceiling }) => sum + ceiling, 0);
}
