/**
 * What one pod means for the quotas of its namespace.
 *
 * @module
 */
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import { podTotal, type TotalField } from "../../../shared/actuation/pod_total.ts";
import { isFinished, isLive } from "../../../shared/actuation/scope.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { isSystemCritical } from "../bid_rules/system_critical.ts";
import { ownValues } from "../limits/own_limits.ts";

/** A pod's part in a namespace, millicores. */
export interface PodUse {
  /** What quotas count of it, as its spec has it now. */
  readonly limits: number;
  readonly requests: number;
  /** The same of the user's own values, not those that were raised: what another such pod asks for. */
  readonly ownLimits: number;
  readonly ownRequests: number;
  /** What quotas would count less of it if what may be taken back from it were: limits above its own. */
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
  const ownContainers = pod.containers.map((one) => withOwn(one, { own, ownRequest }));
  const ownPod = { ...pod, containers: ownContainers };
  return {
    limits: counted(pod, "limitCPU"),
    requests: counted(pod, "requestCPU"),
    ownLimits: counted(ownPod, "limitCPU"),
    ownRequests: counted(ownPod, "requestCPU"),
    raise: raiseOf(pod, { own, allocation }),
    claims: allocation?.spec.podUID === pod.metadata.uid && isLive(pod) && claims(allocation),
    moves,
  };
}

/**
 * As the server's quota counts it (`PodRequests()` and `PodLimits()` of k8s.io/component-helpers): init
 * containers beside the sidecars that run then, what is said of the pod as a whole, and its overhead,
 * which adds to a limit only where there is one.
 */
function counted(pod: Pod, field: TotalField): number {
  const total = podTotal(pod, field) ?? 0;
  const { overheadCPU = 0 } = pod;
  return total === 0 && field === "limitCPU" ? 0 : total + overheadCPU;
}

function withOwn(
  container: PodContainer,
  { own, ownRequest }: Readonly<Record<"own" | "ownRequest", ReadonlyMap<string, number>>>,
): PodContainer {
  const limitCPU = own.get(container.name) ?? container.limitCPU;
  const requestCPU = ownRequest.get(container.name) ?? container.requestCPU;
  return {
    ...container,
    ...(limitCPU === undefined ? {} : { limitCPU }),
    ...(requestCPU === undefined ? {} : { requestCPU }),
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
  const containers = pod.containers.map((one) => {
    const { name, limitCPU = 0 } = one;
    const ownLimit = held.has(name) ? limitCPU : own.get(name) ?? limitCPU;
    return ownLimit < limitCPU ? { ...one, limitCPU: ownLimit } : one;
  });
  return counted(pod, "limitCPU") - counted({ ...pod, containers }, "limitCPU");
}

function claims({ spec, status }: PodAllocation): boolean {
  const ceilings = status?.bounds?.containers ?? [];
  if (spec.market === undefined || ceilings.length === 0) return false;
  return spec.market.need >= ceilings.reduce((sum, { ceiling }) => sum + ceiling, 0);
}
