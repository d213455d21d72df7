/**
 * Waiting for a real system: asks again until the answer is there. Tests of one file that wait for the
 * same things, and do not disturb each other, wait together.
 *
 * @module
 */

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

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Registers the tests by name; all of them start with the first, and each reports its own outcome. */
export function testsAtOnce(tests: Readonly<Record<string, () => Promise<void>>>): void {
  const started = new Map<string, Promise<() => void>>();
  const startAll = (): void => {
    for (const [name, fn] of Object.entries(tests)) {
      const outcome = fn().then(
        () => () => {},
        // Reported by the test of this name, however long after it has failed.
        (error: unknown) => () => {
          throw error;
        },
      );
      started.set(name, outcome);
    }
  };
  for (const name of Object.keys(tests)) {
    // Resources that another test has opened are none of this one's leaks.
    Deno.test({ name, sanitizeOps: false, sanitizeResources: false }, async () => {
      if (started.size === 0) startAll();
      const report = await started.get(name);
      report?.();
    });
  }
}
