/**
 * A source of usage that answers in time, whatever it does: who waits for it holds a permit, and others
 * wait for that.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { UsageAnswer, UsageSource } from "../ports.ts";

/** How long is waited. */
export interface BoundedUsageOptions {
  readonly clock: Pick<Clock, "monotonic" | "sleep">;
  /**
   * For all of an answer, ms: large ones take many requests, each of which has a limit of its own.
   *
   * @default {300000}
   */
  readonly mostMs?: number;
  /** Hears how long the source took for an answer, or did not give one, ms. */
  readonly answered?: (tookMs: number) => void;
}

/** A source that could not be reached for as long hangs: one that is down says so sooner, ms. */
const HANGS_MS = 2000;

/**
 * As `source`, but for the time it may take. While it hangs, which one good answer refutes, one question
 * at a time may take all of it and the others no longer than an answer takes from a source that is well:
 * a thousand that wait in vain would keep the workloads of other sources from their looks for an hour,
 * and one whose answer is too large must not keep the others from theirs.
 */
export function createBoundedUsage(
  source: UsageSource,
  { clock, mostMs = 300_000, answered }: BoundedUsageOptions,
): UsageSource {
  let hangs = false;
  let tries = false;
  let goodAt = -Infinity;

  async function within(
    ms: number,
    ...[question, signal]: Parameters<UsageSource["usage"]>
  ): Promise<UsageAnswer> {
    const [over, done] = [new AbortController(), new AbortController()];
    const late = clock.sleep(ms, done.signal).then((): UsageAnswer => ({
      problem: "unreachable",
      message: `no answer came within ${ms / 1000} s`,
    }));
    try {
      const answer = source.usage(question, AbortSignal.any([signal, over.signal]));
      return await Promise.race([answer, late]);
    } finally {
      over.abort();
      done.abort();
    }
  }

  return {
    async usage(question, signal) {
      const begunAt = clock.monotonic();
      const [isTry, isBrief] = [hangs && !tries, hangs && tries];
      tries ||= isTry;
      let answer: UsageAnswer;
      try {
        answer = await within(isBrief ? HANGS_MS : mostMs, question, signal);
      } finally {
        if (isTry) tries = false;
      }
      // Whoever calls a question off has learnt nothing of the source.
      if (signal.aborted) return answer;
      const tookMs = clock.monotonic() - begunAt;
      answered?.(tookMs);
      const isHang = "problem" in answer && answer.problem === "unreachable" && tookMs >= HANGS_MS;
      if (!isHang) {
        hangs = false;
        goodAt = clock.monotonic();
      } else if (goodAt < begunAt) hangs = true;
      return answer;
    },
  };
}
