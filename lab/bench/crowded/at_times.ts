/**
 * The moments of a run at which something is looked at.
 *
 * @module
 */
import { pause } from "../../../tests/cluster/scene/until.ts";

/** A run, and how often it is looked at. */
export interface Times {
  /** ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
  readonly everyS: number;
}

/** Waits for each moment, the first and the last second included, and gives its second. */
export async function* atTimes({ startMs, seconds, everyS }: Times): AsyncGenerator<number> {
  for (let atS = 0; atS <= seconds; atS += everyS) {
    await pause(Math.max(0, startMs + 1000 * atS - Date.now()));
    yield atS;
  }
}
