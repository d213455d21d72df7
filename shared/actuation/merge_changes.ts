/**
 * One patch of a pod for both clocks.
 *
 * @module
 */
import type { LimitChange, ResourceChange } from "./resize_patch.ts";

/** What each clock wants of one pod, after its checks. */
export interface ClockChanges {
  /** The market's, and the person's whose limits it keeps: `limits.cpu`. */
  readonly market: readonly LimitChange[];
  /** Rightsizing's: requests and `limits.memory`; `limits.cpu` where the market manages no limits. */
  readonly rightsizing: readonly ResourceChange[];
}

/**
 * Both as one list, one entry a container: the server takes or refuses a body as a whole, and each
 * change costs the cluster as many writes. Clocks own fields. `limits.cpu` is the market's where it
 * says anything of the container, and a CPU request that it moves with the limit (Guaranteed pods) is
 * its own, too; all else is rightsizing's.
 *
 * A limit that the market lowers stays at the new request at least, since the server refuses a request
 * above its limit and the market's floor follows requests only with the next clearing. That is no raise:
 * rightsizing has cut its request at the limit that the pod has.
 */
export function mergeChanges({ market, rightsizing }: ClockChanges): readonly ResourceChange[] {
  const limits = new Map(market.map((change) => [change.name, change]));
  const merged = rightsizing.map((change): ResourceChange => {
    const limit = limits.get(change.name);
    if (limit === undefined) return change;
    const { requestCPU = change.requestCPU } = limit;
    const limitCPU = Math.max(limit.limitCPU, requestCPU ?? 0);
    return { ...change, limitCPU, ...(requestCPU === undefined ? {} : { requestCPU }) };
  });
  const named = new Set(rightsizing.map(({ name }) => name));
  return [...merged, ...market.filter(({ name }) => !named.has(name))];
}
