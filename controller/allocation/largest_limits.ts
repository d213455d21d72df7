/**
 * What a new pod of a namespace's largest kind will ask a quota for.
 *
 * @module
 */
import { isFinished } from "../../shared/actuation/scope.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Caches } from "./caches.ts";
import { ownValues } from "./own_limits.ts";

/** The largest own limits by namespace. */
export interface LargestLimits {
  /** Millicores; 0 where no pod has a limit. */
  of(namespace: string): number;
}

/** A look at a whole namespace is worth so much time, ms: pods come in crowds. */
const KEEP_MS = 1000;

/** Looks at the copies when it is asked. */
export function createLargestLimits(
  { pods, allocations }: {
    readonly pods: Pick<Caches["pods"], "byIndex">;
    readonly allocations: Pick<Caches["allocations"], "get">;
  },
  clock: Pick<Clock, "monotonic">,
): LargestLimits {
  const known = new Map<string, { readonly atMs: number; readonly limit: number }>();
  return {
    of(namespace) {
      const nowMs = clock.monotonic();
      const last = known.get(namespace);
      if (last !== undefined && nowMs - last.atMs < KEEP_MS) return last.limit;
      const limit = pods.byIndex(namespace).filter((pod) => !isFinished(pod)).reduce(
        (most, pod) =>
          Math.max(most, ownLimitOf(pod, allocations.get(`${namespace}/${pod.metadata.uid}`))),
        0,
      );
      known.set(namespace, { atMs: nowMs, limit });
      return limit;
    },
  };
}

/** Of a pod in the market it is the user's own limit, not the one that was raised. */
function ownLimitOf({ containers }: Pod, allocation: PodAllocation | undefined): number {
  const own = ownValues(allocation?.status?.originalLimits);
  return containers.reduce((sum, { name, limitCPU = 0 }) => sum + (own.get(name) ?? limitCPU), 0);
}
