/**
 * Makes a rightsized CPU limit the original one of a pod of the market: the base of its ceiling, and what it
 * gets back.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Original, PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Informer } from "../../shared/control/informer.ts";
import { formatCPU } from "../../shared/quantity.ts";
import { movesRequest } from "../../shared/resize/inputs/qos.ts";
import { originalsIn } from "../../shared/resize/original_limits.ts";
import type { AllocationStore } from "../resize/ports.ts";

/** What the writer works with. */
export interface OriginalLimitWriterParts {
  readonly allocations: Pick<Informer<PodAllocation>, "get">;
  readonly store: Pick<AllocationStore, "writeStatus">;
  readonly clock: Pick<Clock, "sleep">;
}

/** Sets own limits, millicores by container; a pod outside of the market has none to set. */
export type OriginalLimitWriter = (pod: Pod, limits: ReadonlyMap<string, number>) => Promise<void>;

/** The market writes the same status: a version that it has overtaken is read again. */
const TRIES = 4;
/** The copy needs a moment to have what the market has written, ms. */
const PAUSE_MS = 250;

/**
 * A writer. Bounds follow from the record, with the market's next look at the pod. Throws an `ApiError`
 * when the server refuses, and when the market was quicker each time.
 */
export function createOriginalLimitWriter(
  { allocations, store, clock }: OriginalLimitWriterParts,
): OriginalLimitWriter {
  return async (pod, limits) => {
    const { namespace, uid } = pod.metadata;
    for (let left = TRIES - 1;; left--) {
      const allocation = allocations.get(`${namespace}/${uid}`);
      const next = allocation && withLimits(allocation, { pod, limits });
      if (next === undefined) return;
      try {
        await store.writeStatus(next);
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || error.status !== 409 || left === 0) throw error;
      }
      await clock.sleep(PAUSE_MS);
    }
  };
}

/** The allocation with these own limits; undefined where it has them, or has no record yet. */
function withLimits(
  allocation: PodAllocation,
  { pod, limits }: { readonly pod: Pod; readonly limits: ReadonlyMap<string, number> },
): PodAllocation | undefined {
  const { originalLimits, originalRequests } = allocation.status ?? {};
  if (originalLimits === undefined) return undefined;
  const carried = originalsIn(pod);
  const changed = (originals: readonly Original[]): Original[] =>
    originals.map((one) => {
      const { name } = one;
      const limit = limits.get(name);
      if (limit === undefined) return one;
      const replaced = carried.get(name);
      const next = { name, cpu: formatCPU(limit) };
      return replaced === undefined ? next : { ...next, replaces: formatCPU(replaced) };
    });
  const next = changed(originalLimits);
  if (next.every(({ cpu }, index) => cpu === originalLimits[index]?.cpu)) return undefined;
  // Where the request goes with the limit, both have the same own value.
  const requests = movesRequest(pod) && originalRequests !== undefined
    ? { originalRequests: changed(originalRequests) }
    : {};
  return { ...allocation, status: { ...allocation.status, originalLimits: next, ...requests } };
}
