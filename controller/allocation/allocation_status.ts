/**
 * The status that the controller publishes for an allocation.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type {
  AllocationCondition,
  ContainerLimit,
  PodAllocation,
  PodAllocationStatus,
} from "../../shared/api/pod_allocation.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { formatCPU, sumCPU } from "../../shared/quantity.ts";
import type { Decision } from "../../shared/resize/chain.ts";
import { INFEASIBLE_REASONS } from "../../shared/resize/inputs/resize_condition.ts";

/** How far an allocation's limits have got. */
export type Phase = NonNullable<PodAllocationStatus["phase"]>;

/** Reasons for failures that an administrator should see. */
const FAILURES: ReadonlySet<string> = new Set<string>([
  "IdentityMismatch",
  "Refused",
  "NodeCapacity",
  "AdmissionDenied",
  ...INFEASIBLE_REASONS,
  "DeviceClaims",
  "ResizeError",
  "RestoreBlocked",
  "OriginalUnknown",
]);

/** Most characters of a message: a policy engine may answer at great length. */
const LONGEST_MESSAGE = 2000;

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
  const applied = pod.containers.flatMap(
    ({ name, applied: { limits: { cpu: appliedLimitCPU } } }) => {
      if (!named.has(name) || appliedLimitCPU === undefined) return [];
      return [{ name, limit: appliedLimitCPU }];
    },
  );
  if (applied.length === 0) return undefined;
  return {
    containers: applied.map(({ name, limit }) => ({ name, cpuLimit: formatCPU(limit) })),
    appliedCPULimit: formatCPU(sumCPU(applied.map(({ limit }) => limit))),
  };
}

/** Input of the status, beside allocation and pod. */
export interface StatusInput {
  readonly decision: Decision;
  /** ISO 8601. */
  readonly wallTime: string;
  /** True when the server has refused the change, whatever the reason. */
  readonly refused?: boolean;
  /** When the last patch was sent, ISO 8601; absent when this controller has sent none. */
  readonly attemptedAt?: string | undefined;
}

/** A status as this version writes it: its reason is one of the list. */
export type KnownStatus = PodAllocationStatus & { readonly reason: EnforcementReason };

/**
 * The status after a decision; undefined when the present status equals it. `applied` values
 * are those that the kubelet reports, never the requested ones.
 */
export function nextStatus(
  allocation: PodAllocation,
  pod: Pod,
  { decision, wallTime, refused = false, attemptedAt }: StatusInput,
): KnownStatus | undefined {
  const present = allocation.status ?? {};
  const { reason } = decision;
  const message = decision.message?.slice(0, LONGEST_MESSAGE);
  if (reason === undefined) return undefined;
  const phase = refused ? "Failed" : phaseOf(reason);
  const applied = appliedLimits(allocation, pod);
  const moved = applied !== undefined && !sameLimits(applied.containers, present.containers ?? []);
  const said = present.phase === phase && present.reason === reason &&
    (phase !== "Failed" || present.message === message);
  if (!moved && said) return undefined;
  const { message: _old, ...rest } = present;
  const { generation } = allocation.metadata;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const lastAttemptTime = attemptedAt ?? present.lastAttemptTime;
  return {
    ...rest,
    ...applied,
    phase,
    reason,
    ...(message === undefined ? {} : { message }),
    conditions: [{ ...conditionOf(allocation, { reason, message, wallTime }), ...observed }],
    ...observed,
    ...(lastAttemptTime === undefined ? {} : { lastAttemptTime }),
    ...(moved && phase === "Applied" ? { lastAppliedTime: wallTime } : {}),
  };
}

function conditionOf(
  { status }: PodAllocation,
  { reason, message = "", wallTime }: {
    readonly reason: EnforcementReason;
    readonly message: string | undefined;
    readonly wallTime: string;
  },
): AllocationCondition {
  const applied = reason === "Applied" ? "True" : "False";
  const present = status?.conditions?.find(({ type }) => type === "Applied");
  const since = present?.status === applied ? present.lastTransitionTime : wallTime;
  return { type: "Applied", status: applied, reason, message, lastTransitionTime: since };
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
