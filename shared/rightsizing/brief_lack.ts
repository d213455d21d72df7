/**
 * Samples that are too few for one look only.
 *
 * @module
 */
import type { RightsizingFacts } from "./guards/rightsizing_facts.ts";
import { ownContainers } from "./rightsized_workload.ts";
import type { WorkloadRecord } from "./workload_record.ts";

/** What there was enough for so long ago counts at least, ms. */
const LEAST_PATIENCE_MS = 3_600_000;

/**
 * Whether a workload that lacks samples now had enough of them within the last hour, or within the
 * window where that is longer, and still has half of what is needed. Where a window holds hardly more
 * than `minSamples`, it holds one less at every second look. Nothing is recommended for such a look, and
 * what was reported before stays.
 */
export function isBriefLack(
  { nowMs, policy: { minSamples, windowMs }, samples, workload }: RightsizingFacts,
  { before, now }: {
    readonly before: WorkloadRecord | undefined;
    readonly now: Pick<WorkloadRecord, "uid" | "policy">;
  },
): boolean {
  if (before === undefined) return false;
  const { status, reason, recommendedAtMs = -Infinity, uid, policy } = before;
  if (status === "Error" || reason === "InsufficientSamples" || uid !== now.uid) return false;
  const { namespace, name } = now.policy;
  if (policy.namespace !== namespace || policy.name !== name) return false;
  if (nowMs - recommendedAtMs > Math.max(windowMs, LEAST_PATIENCE_MS)) return false;
  return ownContainers(workload).every((one) => (samples.get(one.name) ?? 0) * 2 >= minSamples);
}
