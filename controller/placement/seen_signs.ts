/**
 * Since when nodes are known to be about to go. Signs don't tell it themselves, and pods that were made
 * later came there although it was known: they would come back.
 *
 * @module
 */

/** The signs, by node. */
export interface SeenSigns {
  /** The node has this sign now; undefined: none, or it is gone. */
  hear(node: string, sign: string | undefined): void;
  /** When it was first seen there, ms since 1970: now, if never before. */
  sinceMs(node: string, sign: string): number;
}

/** None seen yet. `wall` tells ms since 1970. */
export function createSeenSigns(wall: () => number): SeenSigns {
  const seen = new Map<string, { readonly sign: string; readonly sinceMs: number }>();

  function sinceMs(node: string, sign: string): number {
    const known = seen.get(node);
    if (known?.sign === sign) return known.sinceMs;
    const now = wall();
    seen.set(node, { sign, sinceMs: now });
    return now;
  }

  return {
    hear(node, sign) {
      if (sign === undefined) seen.delete(node);
      else sinceMs(node, sign);
    },
    sinceMs,
  };
}
