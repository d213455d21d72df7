/**
 * Many jobs, some at a time.
 *
 * @module
 */

/** How many at a time. */
export interface InTurnsOptions {
  /** A whole number of at least 1. */
  readonly atOnce: number;
}

/**
 * The results in the order of the items. The first error ends it once the jobs that run have settled.
 * Throws a `RangeError` when `atOnce` is no whole number of at least 1.
 */
export async function inTurns<T, R>(
  items: readonly T[],
  job: (item: T) => Promise<R>,
  { atOnce }: InTurnsOptions,
): Promise<readonly R[]> {
  if (!Number.isInteger(atOnce) || atOnce < 1) {
    throw new RangeError(`Cannot do jobs in turns: atOnce is ${atOnce}, expected at least 1`);
  }
  const results = new Map<number, R>();
  const rest = items.entries();
  const over = new AbortController();
  async function worker(): Promise<void> {
    for (const [index, item] of rest) {
      try {
        results.set(index, await job(item));
      } catch (error) {
        over.abort();
        throw error;
      }
      if (over.signal.aborted) return;
    }
  }
  const workers = Array.from({ length: Math.min(atOnce, items.length) }, worker);
  for (const end of await Promise.allSettled(workers)) {
    if (end.status === "rejected") throw end.reason;
  }
  return items.map((_, index) => results.get(index) as R);
}
