/**
 * Answers that count for a while: the same question is not asked twice in it.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { UsageAnswer, UsageQuestion, UsageSource } from "../ports.ts";

/** What is cached, and for how long failures are. */
export interface UsageCacheOptions {
  readonly source: UsageSource;
  readonly clock: Pick<Clock, "monotonic">;
  /**
   * A failure is not cached longer, ms: whoever asks at once again need not wait for another one.
   *
   * @default {5000}
   */
  readonly failureLifeMs?: number;
}

/** Answers of one source. */
export interface UsageCache {
  /** The source itself, but an answer that came less than `lifeMs` ago will do, or one on its way. */
  within(lifeMs: number): UsageSource;
}

/** No answer is used longer. */
const LONGEST_LIFE_MS = 60_000;

/** How long answers count for a policy that is looked at this often, ms. */
export function cacheLifeMs({ intervalMs }: { readonly intervalMs: number }): number {
  return Math.min(LONGEST_LIFE_MS, intervalMs / 2);
}

interface Entry {
  readonly answer: Promise<UsageAnswer>;
  /** Ends the call when nobody waits for it any more. */
  readonly nobody: AbortController;
  waiting: number;
  /** Once it is there. */
  settled?: { readonly atMs: number; readonly failed: boolean };
}

const CALLED_OFF: UsageAnswer = { problem: "unreachable", message: "the question was called off" };

/** An empty cache. */
export function createUsageCache(
  { source, clock, failureLifeMs = 5000 }: UsageCacheOptions,
): UsageCache {
  /** By question, those on their way among them. */
  const entries = new Map<string, Entry>();

  function isFresh({ settled }: Entry, lifeMs: number): boolean {
    if (settled === undefined) return true;
    const mostMs = settled.failed ? Math.min(lifeMs, failureLifeMs) : lifeMs;
    return clock.monotonic() - settled.atMs < mostMs;
  }

  /** Answers are large: none stays that can't be used. */
  function forgetOld(): void {
    for (const [key, entry] of entries) {
      if (!isFresh(entry, LONGEST_LIFE_MS)) entries.delete(key);
    }
  }

  function ask(key: string, question: UsageQuestion): Entry {
    forgetOld();
    const nobody = new AbortController();
    const answer = source.usage(question, nobody.signal);
    const entry: Entry = { answer, nobody, waiting: 0 };
    entries.set(key, entry);
    return entry;
  }

  async function wait(entry: Entry, signal: AbortSignal): Promise<UsageAnswer> {
    const off = Promise.withResolvers<UsageAnswer>();
    const leave = (): void => off.resolve(CALLED_OFF);
    signal.addEventListener("abort", leave, { once: true });
    entry.waiting++;
    try {
      return await Promise.race([entry.answer, off.promise]);
    } finally {
      entry.waiting--;
      signal.removeEventListener("abort", leave);
    }
  }

  return {
    within: (lifeMs) => ({
      async usage(question, signal) {
        if (signal.aborted) return CALLED_OFF;
        const key = keyOf(question);
        const known = entries.get(key);
        if (known?.settled !== undefined && isFresh(known, lifeMs)) return await known.answer;
        const entry = known !== undefined && isFresh(known, lifeMs) ? known : ask(key, question);
        const answer = await wait(entry, signal);
        if (entry.settled !== undefined) return answer;
        if (answer !== CALLED_OFF) {
          entry.settled = { atMs: clock.monotonic(), failed: "problem" in answer };
        } else if (entry.waiting === 0) {
          if (entries.get(key) === entry) entries.delete(key);
          entry.nobody.abort();
        }
        return answer;
      },
    }),
  };
}

/** The same question a little later asks for another window of the same length. */
function keyOf({ namespace, workload, containers, window }: UsageQuestion): string {
  const { kind, name, uid } = workload;
  return JSON.stringify([namespace, kind, name, uid, containers, window.toMs - window.fromMs]);
}
