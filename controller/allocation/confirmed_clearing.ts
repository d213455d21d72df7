/**
 * Whether an agent that runs stands behind the limits that a record wants.
 *
 * A new controller finds limits that an agent wanted, and cannot know whether that agent still runs: its
 * Lease may be renewed only a minute later. It publishes the bounds again under a new revision, by which
 * an agent that runs clears within a second.
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
 * True for an allocation of a pod that has its original limits back: the status says so, or the last
 * controller ended between its patch and the status, so that the limit's manager says so alone. Earlier
 * desired limits of the agent do not count until it clears again.
 */
export function staysRestored(pod: Pod, { spec, status }: PodAllocation): boolean {
  if (status?.reason === "Restored") return true;
  return pod.containers.some(({ name, limits: { cpu: limitCPU }, limitManagers = [] }) => {
    if (limitCPU === undefined || !limitManagers.includes(RESTORE_MANAGER)) return false;
    const limit = formatCPU(limitCPU);
    const reported = status?.containers?.find((one) => one.name === name)?.cpuLimit;
    // The market may want the user's own value, too.
    const wanted = spec.containers?.find((one) => one.name === name)?.cpuLimit;
    return reported !== undefined && reported !== limit && wanted !== limit;
  });
}

/**
 * A clearing of this age, ms, needs no confirmation. Longer than a new leader takes to follow one that
 * was lost, 15 s and a little, so that an ordinary change of leader holds no resize.
 */
const RECENT_MS = 30_000;

/** True for a recent clearing, and for one by bounds that this controller published. */
export function isConfirmed(
  { allocation: { spec }, memory: { publishedRevision }, wallMs }: Pick<
    ReconcileSnapshot,
    "allocation" | "memory" | "wallMs"
  >,
  config: Pick<MarketConfig, "agentSilentAfterMs">,
): boolean {
  const { observedBounds, clearedAt } = spec.market ?? {};
  // The clearing's time is by the node's clock.
  const ageMs = Math.abs(wallMs - Date.parse(clearedAt ?? ""));
  return ageMs <= Math.min(RECENT_MS, config.agentSilentAfterMs) ||
    (publishedRevision !== undefined && observedBounds !== undefined &&
      observedBounds >= publishedRevision);
}

/**
 * True when an unconfirmed clearing would change the limits, or undo what another controller restored,
 * and the record does not have a revision that asks for another clearing: not yet, or not in this copy.
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
