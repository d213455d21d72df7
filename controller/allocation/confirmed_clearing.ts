/**
 * Whether the desired limits in a record are from an agent that still runs.
 *
 * A new controller cannot know that from the record, and the agent's Lease may be renewed only a minute
 * later. So it publishes the bounds again under a new revision, and an agent that runs clears with that
 * within a second.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../shared/quantity.ts";
import { desiredLimits, RESTORE_MANAGER } from "../../shared/resize/original_limits.ts";
import type { MarketConfig } from "../config.ts";
import type { ReconcileSnapshot } from "./reconcile_snapshot.ts";

/**
 * True for a pod that has its original limits back by the status, or by the limit's field manager alone,
 * where the last controller ended between its patch and the status. The agent's earlier desired limits
 * do not count until it clears again.
 */
export function staysRestored(pod: Pod, { spec, status }: PodAllocation): boolean {
  if (status?.reason === "Restored") return true;
  return pod.containers.some(({ name, limits: { cpu: limitCPU }, limitManagers = [] }) => {
    if (limitCPU === undefined || !limitManagers.includes(RESTORE_MANAGER)) return false;
    const limit = formatCPU(limitCPU);
    const reported = status?.containers?.find((one) => one.name === name)?.cpuLimit;
    // RESTORE_MANAGER is also used for a limit of the market that equals the original one.
    const wanted = spec.containers?.find((one) => one.name === name)?.cpuLimit;
    return reported !== undefined && reported !== limit && wanted !== limit;
  });
}

/**
 * A clearing up to this age, ms, needs no confirmation. A new leader takes over some 15 s after the last
 * one was lost: such a change of the leader delays no resize.
 */
const RECENT_MS = 30_000;

/** True for a recent clearing, and for one with bounds that this controller published. */
export function isConfirmed(
  { allocation: { spec }, memory: { publishedRevision }, wallMs }: Pick<
    ReconcileSnapshot,
    "allocation" | "memory" | "wallMs"
  >,
  config: Pick<MarketConfig, "agentSilentAfterMs">,
): boolean {
  const { observedBounds, clearedAt } = spec.market ?? {};
  // The node's clock may be ahead.
  const ageMs = Math.abs(wallMs - Date.parse(clearedAt ?? ""));
  return ageMs <= Math.min(RECENT_MS, config.agentSilentAfterMs) ||
    (publishedRevision !== undefined && observedBounds !== undefined &&
      observedBounds >= publishedRevision);
}

/**
 * True when an unconfirmed clearing would change the limits, or undo a restore, and the cached record
 * does not have the revision that asks for another clearing.
 */
export function needsConfirmation(
  { pod, allocation, memory }: Pick<ReconcileSnapshot, "pod" | "allocation" | "memory">,
): boolean {
  const { publishedRevision } = memory;
  if (publishedRevision !== undefined) {
    return (allocation.status?.bounds?.revision ?? 0) < publishedRevision;
  }
  const desired = desiredLimits(allocation.spec);
  return staysRestored(pod, allocation) ||
    pod.containers.some(({ name, limits }) =>
      desired.has(name) && desired.get(name) !== limits.cpu
    );
}
