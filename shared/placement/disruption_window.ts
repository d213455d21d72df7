/**
 * When running replicas may be moved.
 *
 * @module
 */
import { parseGoDuration } from "../duration.ts";
import { parseCronSchedule } from "./cron_schedule.ts";

/** Openings, and how long each lasts. Plain data, as it may stand in a configuration. */
export interface DisruptionWindow {
  /** As `parseCronSchedule()` reads it. */
  readonly schedule: string;
  /** More than 0. */
  readonly durationMs: number;
}

/** Longer ones are open all the time, whatever their schedule: every day there is comes within eight years. */
const LONGEST_MS = 8 * 366 * 86_400_000;

/** Milliseconds of a text such as `2h`. Throws a `SyntaxError` where it can't be read or is 0. */
export function parseWindowDuration(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs <= 0) throw new SyntaxError("Cannot parse duration: it is 0, expected more");
  return durationMs;
}

/** True from each opening on, for as long as the window lasts, without its end. */
export function isWindowOpen({ schedule, durationMs }: DisruptionWindow, nowMs: number): boolean {
  const opening = parseCronSchedule(schedule).next(nowMs - Math.min(durationMs, LONGEST_MS));
  return opening !== undefined && opening <= nowMs;
}

/** The first opening after `nowMs`, ms since 1970. A window that is open may open again before it ends. */
export function nextOpeningMs({ schedule }: DisruptionWindow, nowMs: number): number | undefined {
  return parseCronSchedule(schedule).next(nowMs);
}
