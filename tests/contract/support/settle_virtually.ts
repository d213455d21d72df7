/**
 * Lets virtual time pass until a promise has settled.
 *
 * @module
 */
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";

/** Virtual time after which a promise counts as hung, ms. */
const LIMIT_MS = 600_000;

/** The promise's value or error. Throws when it is pending after ten virtual minutes. */
export async function settleVirtually<V>(clock: VirtualClock, promise: Promise<V>): Promise<V> {
  let settled = false;
  const done = promise.finally(() => settled = true);
  // The caller awaits it below; until then a rejection must not count as unhandled.
  done.catch(() => {});
  for (const end = clock.monotonic() + LIMIT_MS; !settled;) {
    if (clock.monotonic() >= end) throw new Error(`Cannot settle: pending after ${LIMIT_MS} ms`);
    await clock.runUntil(clock.monotonic() + 5);
  }
  return await done;
}
