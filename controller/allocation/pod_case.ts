/**
 * A pod in work: what one look at it knows.
 *
 * @module
 */
import type { OutOfScope } from "../../shared/resize/scope.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { PodSnapshot } from "./pod_snapshot.ts";
import type { PodMemory } from "./pod_memory.ts";
import type { QuotaRoom } from "./quotas/quota_room.ts";
import type { FoundOriginals } from "./original_limits.ts";

/** A pod in work. */
export interface PodCase extends PodSnapshot {
  readonly podKey: string;
  readonly allocation: PodAllocation;
  readonly memory: PodMemory;
  /** Why the pod takes no part; undefined when it does. */
  readonly scope: OutOfScope | undefined;
  /** False while the cache is out of step, or may not know of the last patch yet. */
  readonly current: boolean;
  readonly own: FoundOriginals;
  /** What the quotas leave for raises; undefined when none binds. */
  readonly quota: QuotaRoom | undefined;
}
