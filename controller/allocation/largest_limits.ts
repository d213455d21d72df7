/**
 * What a new pod of a namespace's largest kind will ask a quota for.
 *
 * @module
 */
import { movesRequest } from "../../shared/actuation/moved_request.ts";
import { isFinished } from "../../shared/actuation/scope.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Caches } from "./caches.ts";
import { ownValues } from "./own_limits.ts";

/** The largest of a namespace's pods, millicores; 0 where no pod has any. */
export interface LargestPod {
  readonly limits: number;
  readonly requests: number;
}

/** The largest own limits and requests by namespace. */
export interface LargestLimits {
  of(namespace: string): LargestPod;
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
  const known = new Map<string, { readonly atMs: number; readonly largest: LargestPod }>();
  return {
    of(namespace) {
      const nowMs = clock.monotonic();
      const last = known.get(namespace);
      if (last !== undefined && nowMs - last.atMs < KEEP_MS) return last.largest;
      let limits = 0;
      let requests = 0;
      for (const pod of pods.byIndex(namespace)) {
        if (isFinished(pod)) continue;
        const own = ownTotals(pod, allocations.get(`${namespace}/${pod.metadata.uid}`));
        limits = Math.max(limits, own.limits);
        requests = Math.max(requests, own.requests);
      }
      const largest = { limits, requests };
      known.set(namespace, { atMs: nowMs, largest });
      return largest;
    },
  };
}

/** Of a pod in the market they are the user's own, not those that were raised. */
function ownTotals(pod: Pod, allocation: PodAllocation | undefined): LargestPod {
  const { originalLimits, originalRequests } = allocation?.status ?? {};
  const ownLimits = ownValues(originalLimits);
  const ownRequests = movesRequest(pod) ? ownValues(originalRequests) : new Map<string, number>();
  let limits = 0;
  let requests = 0;
  for (const { name, limitCPU = 0, requestCPU = 0 } of pod.containers) {
    limits += ownLimits.get(name) ?? limitCPU;
    requests += ownRequests.get(name) ?? requestCPU;
  }
  return { limits, requests };
}
