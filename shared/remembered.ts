/**
 * Answers that are worked out once for each text.
 *
 * @module
 */

/** How many are kept. */
export interface RememberedOptions {
  /** Beyond it the answer goes that was asked for the longest ago. */
  readonly most: number;
}

/**
 * The same function, which remembers what it gave. `work` must depend on the text alone, and what it
 * gives is shared by all callers. Throws what `work` throws, and remembers nothing of that.
 */
export function remembered<T extends object>(
  work: (text: string) => T,
  { most }: RememberedOptions,
): (text: string) => T {
  const kept = new Map<string, T>();
  return (text) => {
    const found = kept.get(text);
    const answer = found ?? work(text);
    // A map keeps the order of insertion: the first is the least recently used.
    kept.delete(text);
    kept.set(text, answer);
    const [oldest] = kept.keys();
    if (kept.size > most && oldest !== undefined) kept.delete(oldest);
    return answer;
  };
}
