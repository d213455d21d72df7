/**
 * A log that keeps the looks at pods that have failed.
 *
 * @module
 */
import { type Log, silentLog } from "../../shared/log.ts";

/** The log, and what failed so far. */
export interface FailureLog {
  readonly log: Log;
  /** Takes the failures since it was asked last. */
  taken(): readonly unknown[];
}

/** Nothing failed yet. */
export function createFailureLog(): FailureLog {
  const failures: unknown[] = [];
  const keep: Log["warn"] = (message, fields) => {
    if (message === "Reconciling failed") failures.push(fields);
  };
  const log = { ...silentLog, debug: keep, info: keep, warn: keep, error: keep };
  return { log, taken: () => failures.splice(0) };
}
