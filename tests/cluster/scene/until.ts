/**
 * Waiting for a real system: asks again until the answer is there.
 *
 * @module
 */

/** How long and how often. */
export interface UntilOptions {
  /** @default {30000} */
  readonly timeoutMs?: number;
  /** @default {100} */
  readonly everyMs?: number;
}

/**
 * Asks until `probe` gives something other than undefined, and returns that. Throws an `Error` that
 * names what was waited for, how long, and the last error of the probe.
 */
export async function until<T>(
  what: string,
  probe: () => T | undefined | Promise<T | undefined>,
  { timeoutMs = 30_000, everyMs = 100 }: UntilOptions = {},
): Promise<T> {
  const start = performance.now();
  let last: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined) return answer;
      last = undefined;
    } catch (error) {
      last = error;
    }
    if (performance.now() - start > timeoutMs) {
      const detail = last === undefined ? "" : `; last: ${String(last)}`;
      throw new Error(`Cannot go on: no ${what} within ${timeoutMs} ms${detail}`, { cause: last });
    }
    await pause(everyMs);
  }
}

/** Resolves after `ms`. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
