/**
 * What others have made of a pod's limits while it is managed.
 *
 * @module
 */
import { MARKET_MANAGER, RESTORE_MANAGER } from "../../../shared/actuation/field_managers.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Original } from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";

/** A limit that somebody else has set. */
export interface ForeignLimit {
  readonly container: string;
  /** The own limit so far, as a quantity; absent when there was none. */
  readonly from?: string;
  readonly to: string;
  /** Who has set it. */
  readonly manager: string;
}

/** This product's own hands: what is brought back is the record's word, and no news. */
const OWN_HANDS: ReadonlySet<string> = new Set([MARKET_MANAGER, RESTORE_MANAGER]);

/** Own limits that others have changed. */
export interface TakenOver {
  /** Own limits from now on. */
  readonly originals: readonly Original[];
  readonly changes: readonly ForeignLimit[];
}

/**
 * A limit that is managed by somebody else is the user's own from now on: after this product's patch
 * it would be the only manager, and a co-manager has applied the very value. Undefined when nobody
 * else has set anything new. The pod must be at least as new as the last patch.
 */
export function takenOver(originals: readonly Original[], pod: Pod): TakenOver | undefined {
  const own = new Map(originals.map((one) => [one.name, one]));
  const changes: ForeignLimit[] = [];
  for (const { name, limitCPU, limitManagers = [] } of pod.containers) {
    const manager = limitManagers.find((one) => !OWN_HANDS.has(one));
    if (manager === undefined || limitCPU === undefined) continue;
    const to = formatCPU(limitCPU);
    const from = own.get(name)?.cpu;
    if (from === to) continue;
    own.set(name, { name, cpu: to });
    changes.push({ container: name, ...(from === undefined ? {} : { from }), to, manager });
  }
  return changes.length === 0 ? undefined : { originals: [...own.values()], changes };
}
