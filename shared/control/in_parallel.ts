/**
 * Many small jobs, a few at a time.
 *
 * @module
 */

/**
 * Runs `job` for each item, `concurrency` at the same time; resolves with the results in the order of the
 * items, without undefined ones. Throws the first error, once running jobs have settled.
 */
export async function inParallel<T, R>(
  items: readonly T[],
  job: (item: T) => Promise<R>,
  { concurrency = 8 }: { readonly concurrency?: number } = {},
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
  const ended = await Promise.allSettled(Array.from({ length: concurrency }, worker));
  for (const end of ended) if (end.status === "rejected") throw end.reason;
  return items.flatMap((_, index) => {
    const result = results.get(index);
    return result === undefined ? [] : [result];
  });
}
