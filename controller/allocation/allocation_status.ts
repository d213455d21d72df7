/**
 * The status that the controller publishes for an allocation.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type {
  ContainerLimit,
  PodAllocation,
  PodAllocationStatus,
} from "../../shared/api/pod_allocation.ts";
import {
  ENFORCEMENT_REASONS,
  type EnforcementReason,
} from "../../shared/api/reasons/enforcement_reasons.ts";
import type { Reason } from "../../shared/api/reasons/reason.ts";
import { defined } from "../../shared/defined.ts";
import { formatCPU, parseCPUBound, sumCPU } from "../../shared/quantity.ts";
import type { Decision } from "../../shared/resize/chain.ts";

/** Most characters of a message: those of policy engines may be long. */
const LONGEST_MESSAGE = 2000;

/** The phase for a reason. */
export function phaseOf(reason: EnforcementReason): NonNullable<PodAllocationStatus["phase"]> {
  if (reason === "Applied" || reason === "Restored") return "Applied";
  const { fails }: Reason = ENFORCEMENT_REASONS[reason];
  return fails ? "Failed" : "Pending";
}

/** Input of the status, beside allocation and pod. */
export interface StatusInput {
  readonly decision: Decision;
  /** ISO 8601. */
  readonly wallTime: string;
  readonly refused?: boolean;
  /** When the last patch was sent, ISO 8601; absent when this controller has sent none. */
  readonly attemptedAt?: string | undefined;
}

/** A status with a reason that this version knows. */
export type KnownStatus = PodAllocationStatus & { readonly reason: EnforcementReason };

/**
 * The status after a decision; undefined when the present status reports it already. Applied limits
 * are those that the kubelet reports, never the requested ones.
 */
export function nextStatus(
  { metadata: { generation }, status: present = {} }: PodAllocation,
  pod: Pod,
  { decision, wallTime, refused = false, attemptedAt }: StatusInput,
): KnownStatus | undefined {
  const { reason } = decision;
  if (reason === undefined) return undefined;
  const message = decision.message?.slice(0, LONGEST_MESSAGE);
  const phase = refused ? "Failed" : phaseOf(reason);
  const applied = appliedLimits(present, pod);
  const limitsMoved = applied.length > 0 && textOf(applied) !== textOf(present.containers);
  const isReported = present.phase === phase && present.reason === reason &&
    (phase !== "Failed" || present.message === message);
  if (!limitsMoved && isReported) return undefined;
  const { message: _old, ...rest } = present;
  const observed = generation === undefined ? {} : { observedGeneration: generation };
  const isApplied = reason === "Applied" ? "True" : "False";
  const before = present.conditions?.find(({ type }) => type === "Applied");
  return {
    ...rest,
    ...(applied.length === 0 ? {} : {
      containers: applied,
      appliedCPULimit: formatCPU(sumCPU(applied.map(({ cpuLimit }) => parseCPUBound(cpuLimit)))),
    }),
    phase,
    reason,
    ...defined({ message }),
    conditions: [{
      type: "Applied",
      status: isApplied,
      reason,
      message: message ?? "",
      lastTransitionTime: before?.status === isApplied ? before.lastTransitionTime : wallTime,
      ...observed,
    }],
    ...observed,
    ...defined({ lastAttemptTime: attemptedAt ?? present.lastAttemptTime }),
    ...(limitsMoved && phase === "Applied" ? { lastAppliedTime: wallTime } : {}),
  };
}

/** The limits that the kubelet reports for the containers that have bounds. */
function appliedLimits({ bounds }: PodAllocationStatus, { containers }: Pod): ContainerLimit[] {
  const named = new Set(bounds?.containers.map(({ name }) => name));
  return containers.flatMap(({ name, applied: { limits: { cpu } } }) =>
    !named.has(name) || cpu === undefined ? [] : [{ name, cpuLimit: formatCPU(cpu) }]
  );
}

function textOf(limits: readonly ContainerLimit[] = []): string {
  return limits.map(({ name, cpuLimit }) => `${name} ${cpuLimit}`).join();
}
