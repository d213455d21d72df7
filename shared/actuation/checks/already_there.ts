/**
 * Is there anything left to do?
 *
 * @module
 */
import type { Pod, PodContainer } from "../../api/pod.ts";
import type { EnforcementReason } from "../../api/reasons/enforcement_reasons.ts";
import { GRID } from "../../market/rounding.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";

/**
 * True when the kubelet reports the limit, rounded or not: systemd rounds quotas up to the grid, so a
 * value that is reported within one step of what was asked for is the same limit.
 */
export function isApplied({ appliedLimitCPU }: PodContainer, limitCPU: number): boolean {
  return appliedLimitCPU !== undefined && appliedLimitCPU >= limitCPU &&
    appliedLimitCPU - limitCPU < GRID;
}

/** Holds when the pod's spec has the wanted limits: `Applied` once the kubelet reports them. */
export function alreadyThere({ pod }: PodFacts, limits: WantedLimits): Verdict {
  if (pod === undefined) return undefined;
  const wanted = pod.containers.filter(({ name }) => limits.has(name));
  if (wanted.some(({ name, limitCPU }) => limits.get(name) !== limitCPU)) return undefined;
  if (wanted.every((container) => isApplied(container, limits.get(container.name) ?? 0))) {
    return { verdict: "hold", reason: "Applied", message: "the kubelet reports the wanted limits" };
  }
  return { verdict: "hold", ...kubeletWord(pod) };
}

/** Why the kubelet has not done it yet, in its own words where it has any about these limits. */
export function kubeletWord(pod: Pod): { reason: EnforcementReason; message: string } {
  const { generation = 0 } = pod.metadata;
  const conditions = pod.resizeConditions.filter(({ observedGeneration = generation }) =>
    observedGeneration >= generation
  );
  const pending = conditions.find(({ type }) => type === "PodResizePending");
  if (pending?.reason === "Infeasible") {
    return { reason: "ResizeInfeasible", message: pending.message };
  }
  if (pending !== undefined) return { reason: "ResizeDeferred", message: pending.message };
  const working = conditions.find(({ type }) => type === "PodResizeInProgress");
  if (working?.reason === "Error") return { reason: "ResizeError", message: working.message };
  return {
    reason: "ResizeInProgress",
    message: working?.message || "the kubelet has not reported the limits yet",
  };
}
