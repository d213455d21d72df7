/**
 * Windows in which running replicas may be moved; a cron schedule opens them.
 *
 * @module
 */
import { Cron } from "croner";
import { parseGoDuration } from "../duration.ts";
import { quotedText } from "../quoted_text.ts";

// croner: no dependencies, no timer unless it is given a function, times from an argument, time zones by Intl.

/** Openings and their duration. */
export interface DisruptionWindow {
  /** See `parseCronSchedule()`. */
  readonly schedule: string;
  /** More than 0. */
  readonly durationMs: number;
}

/** Recurring times, ms since 1970. */
export interface CronSchedule {
  /** The first time after `afterMs`, whole seconds; undefined if there is none. */
  next(afterMs: number): number | undefined;
}

/** A longer window is always open: each schedule has a time within eight years. */
const LONGEST_MS = 8 * 366 * 86_400_000;

/** True from each opening until the window's end. */
export function isWindowOpen({ schedule, durationMs }: DisruptionWindow, nowMs: number): boolean {
  const opening = parseCronSchedule(schedule).next(nowMs - Math.min(durationMs, LONGEST_MS));
  return opening !== undefined && opening <= nowMs;
}

/** Milliseconds of a text such as `2h`. Throws a `SyntaxError` if it can't be parsed or is 0. */
export function parseWindowDuration(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs <= 0) throw new SyntaxError("Cannot parse duration: it is 0, expected more");
  return durationMs;
}

/** Longer texts are refused unread. */
const LONGEST_TEXT = 256;

const ZONE = /^CRON_TZ=(\S+)\s+/;
const VALUE = "(?:\\d{1,2}|[A-Za-z]{3})";
const ITEM = `(?:[*?]|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`;
const FIELD = `${ITEM}(?:,${ITEM})*`;

/** Less than croner accepts: Kubernetes has no `L`, `W`, `#` and dates. */
const FIVE_FIELDS = new RegExp(`^${FIELD}(?:\\s+${FIELD}){4}$`);

/** More than eight years before any time in question: in eight years there may be no 29 February. */
const FIRST = new Date(Date.UTC(2000, 0, 1));

/** Results by text: a new pod needs one, and there are few different ones. */
const known = new Map<string, CronSchedule | SyntaxError>();
const MOST_KNOWN = 256;

/**
 * Parses a schedule such as `0 2 * * *` or `CRON_TZ=Europe/Berlin 0 2 * * 1-5`, in UTC by default. If both
 * day and weekday are restricted, one is enough. A time that the clocks skip comes right after the skip; one
 * that they repeat comes once, if the hour is a number. Throws a `SyntaxError` that quotes the text if it
 * can't be parsed or has no time.
 */
export function parseCronSchedule(text: string): CronSchedule {
  let result = known.get(text);
  if (result === undefined) {
    result = readSchedule(text);
    if (known.size >= MOST_KNOWN) known.clear();
    if (text.length <= LONGEST_TEXT) known.set(text, result);
  }
  if (result instanceof SyntaxError) throw result;
  return result;
}

function readSchedule(text: string): CronSchedule | SyntaxError {
  const refusal = (why: string, cause?: unknown): SyntaxError =>
    new SyntaxError(`Cannot parse schedule: ${quotedText(text)} ${why}`, { cause });
  const trimmed = text.length > LONGEST_TEXT ? "" : text.trim();
  const [prefix = "", timezone = "UTC"] = ZONE.exec(trimmed) ?? [];
  const fields = trimmed.slice(prefix.length);
  if (!FIVE_FIELDS.test(fields)) {
    return refusal("is not five fields: minute, hour, day, month, weekday");
  }
  try {
    const pattern = fields.split(/\s+/).map(withEnds).join(" ");
    const cron = new Cron(pattern, { mode: "5-part", timezone });
    // Only a search finds a zone that does not exist, and a day that no month has.
    if (cron.nextRun(FIRST) === null) return refusal("names a day that never comes");
    return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
  } catch (error) {
    return refusal("has a field or a time zone that does not exist", error);
  }
}

/** The last value of each field. */
const LAST = ["59", "23", "31", "12", "6"];

/** `5/15` goes on to the end of the field, as in Kubernetes; croner needs the end. */
function withEnds(field: string, index: number): string {
  return field.replace(/(^|,)(\w+)\//g, `$1$2-${LAST[index]}/`);
}
