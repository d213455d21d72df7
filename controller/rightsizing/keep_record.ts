/**
 * What was applied comes on record soon, however long a cycle is.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { RecordBook } from "./record_book.ts";

/** Between two looks whether something was applied that is not on record, ms. */
const RECORD_MS = 5000;

/** Runs until `signal` is aborted, whatever a write comes to: all of rightsizing stands beside it. */
export async function keepRecord(
  { book, clock, log }: {
    readonly book: Pick<RecordBook, "flushApplied">;
    readonly clock: Pick<Clock, "sleep">;
    readonly log: Log;
  },
  signal: AbortSignal,
): Promise<void> {
  while (!signal.aborted) {
    await clock.sleep(RECORD_MS, signal);
    if (signal.aborted) return;
    try {
      await book.flushApplied();
    } catch (error) {
      // The book still has it, and tries again with the next flush of a cycle.
      log.warn("What was applied can't be written", { error: String(error) });
    }
  }
}
