/**
 * What the controller reports of an allocation.
 *
 * @module
 */
import type { Decision } from "../../shared/actuation/decide.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type {
  ContainerLimit,
  PodAllocation,
  PodAllocationStatus,
} from "../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../shared/api/reason.ts";
import { formatCPU } from "../../shared/quantity.ts";

/** How far an allocation's limits have got. */
export type Phase = NonNullable<PodAllocationStatus["phase"]>;

/** Reasons that mean: it did not work, and somebody should know. */
const FAILURES: ReadonlySet<EnforcementReason> = new Set([
  "IdentityMismatch",
  "Refused",
  "ResizeInfeasible",
  "RestoreBlocked",
  "OriginalUnknown",
]);

/** The phase that a reason stands for. */
export function phaseOf(reason: EnforcementReason): Phase {
  if (reason === "Applied" || reason === "Restored") return "Applied";
  return FAILURES.has(reason) ? "Failed" : "Pending";
}

/** The limits that the kubelet reports for the containers that have bounds. */
function appliedLimits(
  allocation: PodAllocation,
  pod: Pod,
): { containers: ContainerLimit[]; appliedCPULimit: string } | undefined {
  const named = new Set(allocation.status?.bounds?.containers.map(({ name }) => name));
  let total = 0;
  const containers = pod.containers.flatMap(({ name, appliedLimitCPU }) => {
    if (!named.has(name) || appliedLimitCPU === undefined) return [];
    total += appliedLimitCPU;
    return [{ name, cpuLimit: formatCPU(appliedLimitCPU) }];
  });
  return containers.length === 0 ? undefined : { containers, appliedCPULimit: formatCPU(total) };
}

/**
 * The status after a decision, or undefined when the present one says so already. `applied` values
 * are the kubelet's word, never what was asked for.
 */
export function nextStatus(
  allocation: PodAllocation,
  pod: Pod,
  { decision, wallTime }: { decision: Decision; wallTime: string },
): PodAllocationStatus | undefined {
  const present = allocation.status ?? {};
  const { reason, message } = decision;
  if (reason === undefined) return undefined;
  const phase = phaseOf(reason);
  const applied = appliedLimits(allocation, pod);
  const moved = applied !== undefined && !sameLimits(applied.containers, present.containers ?? []);
  const said = present.phase === phase && present.reason === reason &&
    (phase !== "Failed" || present.message === message);
  if (!moved && said) return undefined;
  const { message: _old, ...rest } = present;
  return {
    ...rest,
    ...applied,
    phase,
    reason,
    ...(message === undefined ? {} : { message }),
    ...(allocation.metadata.generation === undefined
      ? {}
      : { observedGeneration: allocation.metadata.generation }),
    ...(moved && phase === "Applied" ? { lastAppliedTime: wallTime } : {}),
  };
}

function sameLimits(
  limits: readonly ContainerLimit[],
  others: readonly ContainerLimit[],
): boolean {
  return limits.length === others.length &&
    limits.every(({ name, cpuLimit }, index) =>
      others[index]?.name === name && others[index]?.cpuLimit === cpuLimit
    );
}
