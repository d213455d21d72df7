/**
 * Many small jobs, a few at a time.
 *
 * @module
 */

/** How many jobs. */
export interface InParallelOptions {
  /** Jobs that run at the same time. @default {8} */
  readonly atOnce?: number;
}

/** The results in the order of the items. The first error ends it once running jobs have settled. */
export async function inParallel<T, R>(
  items: readonly T[],
  job: (item: T) => Promise<R>,
  { atOnce = 8 }: InParallelOptions = {},
): Promise<R[]> {
  const results = new Map<number, R>();
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < items.length) {
      const index = next++;
      const item = items[index];
      if (item !== undefined) results.set(index, await job(item));
    }
  };
  const ended = await Promise.allSettled(Array.from({ length: atOnce }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  return items.flatMap((_, index) => {
    const result = results.get(index);
    return result === undefined ? [] : [result];
  });
}
