/**
 * Windows in which running replicas may be moved; a cron schedule opens them.
 *
 * @module
 */
// croner: no dependencies, no timer unless it is given a function, times from an argument, time zones by Intl.
import { Cron } from "croner";
import { parseGoDuration } from "../duration.ts";
import { quotedText } from "../quoted_text.ts";
import { remembered } from "../remembered.ts";

/** Openings and their duration. Plain data, as in a configuration. */
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

/** The first opening after `nowMs`, ms since 1970; an open window may open again before it ends. */
export function nextOpeningMs({ schedule }: DisruptionWindow, nowMs: number): number | undefined {
  return parseCronSchedule(schedule).next(nowMs);
}

/** Milliseconds of a text such as `2h`. Throws a `SyntaxError` if it can't be parsed or is 0. */
export function parseWindowDuration(text: string): number {
  const durationMs = parseGoDuration(text);
  if (durationMs <= 0) throw new SyntaxError("Cannot parse duration: it is 0, expected more");
  return durationMs;
}

/** Longer texts are refused unread. */
const LONGEST_TEXT = 256;

/** Parsed schedules that are kept: each is needed for each new pod, and there are few. */
const MOST_KEPT = 256;

const ZONE = /^CRON_TZ=(\S+)\s+/;

const VALUE = "(?:\\d{1,2}|[A-Za-z]{3})";
const ITEM = `(?:[*?]|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`;
const FIELD = `${ITEM}(?:,${ITEM})*`;

/** Less than croner accepts: Kubernetes has no `L`, `W`, `#` and dates. */
const FIVE_FIELDS = new RegExp(`^${FIELD}(?:\\s+${FIELD}){4}$`);

/** More than eight years before any time in question: in eight years there may be no 29 February. */
const FIRST_MS = Date.UTC(2000, 0, 1);

/**
 * Parses a schedule such as `0 2 * * *` or `CRON_TZ=Europe/Berlin 0 2 * * 1-5`, in UTC by default. If both
 * day and weekday are restricted, one is enough. A time that the clocks skip comes right after the skip; one
 * that they repeat comes once, if the hour is a number. Throws a `SyntaxError` that quotes the text if it
 * can't be parsed or has no time.
 */
export function parseCronSchedule(text: string): CronSchedule {
  const trimmed = text.length > LONGEST_TEXT ? "" : text.trim();
  const zone = ZONE.exec(trimmed);
  const fields = trimmed.slice(zone?.[0].length ?? 0);
  if (!FIVE_FIELDS.test(fields)) {
    throw refusal(text, "is not five fields: minute, hour, day, month, weekday");
  }
  const [, , day = "", month = "", weekday = ""] = fields.split(/\s+/);
  if (!hasDay({ day, month, weekday })) throw refusal(text, "names a day that never comes");
  try {
    return scheduleOf(`${zone?.[1] ?? "UTC"} ${fields}`);
  } catch (error) {
    throw refusal(text, "has a field or a time zone that does not exist", error);
  }
}

/** The schedule of a zone and five fields. Throws if one does not exist. */
const scheduleOf = remembered((text): CronSchedule => {
  const [zone = "", ...fields] = text.split(/\s+/);
  const cron = new Cron(fields.map(withEnds).join(" "), { mode: "5-part", timezone: zone });
  // Only this finds a zone that does not exist.
  cron.nextRun(new Date(FIRST_MS));
  return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
}, { most: MOST_KEPT });

/** The last value of each field. */
const LAST = ["59", "23", "31", "12", "6"];

/** `5/15` goes on to the end of the field, as in Kubernetes; croner needs the end. */
function withEnds(field: string, index: number): string {
  return field.replace(/(^|,)(\w+)\//g, `$1$2-${LAST[index]}/`);
}

function refusal(text: string, why: string, cause?: unknown): SyntaxError {
  return new SyntaxError(`Cannot parse schedule: ${quotedText(text)} ${why}`, { cause });
}

/** Days of each month, in a leap year. */
const MOST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

const DAY_ITEM = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/;

/**
 * False if none of the months has one of the days, as for 31 April: croner would search the calendar to its
 * end. A weekday beside the day is enough. Fields that are not cron have no meaningful answer.
 */
function hasDay(
  { day, month, weekday }: Readonly<Record<"day" | "month" | "weekday", string>>,
): boolean {
  if (!/^[*?]$/.test(weekday)) return true;
  const days = day.split(",").map((item) => numberOf(DAY_ITEM.exec(item)?.[1]) ?? 1);
  const earliest = Math.min(...days);
  return month.split(",").flatMap(monthsOf).some((one) => (MOST_DAYS[one - 1] ?? 0) >= earliest);
}

function monthsOf(item: string): readonly number[] {
  const [, from, to, step] = DAY_ITEM.exec(item) ?? [];
  const first = numberOf(from) ?? 1;
  // A single month is one; a step goes on to the end of the year.
  const end = numberOf(to) ?? (numberOf(from) === undefined || step !== undefined ? 12 : first);
  const every = Math.max(1, Number(step ?? 1));
  return MOST_DAYS.map((_, index) => index + 1)
    .filter((month) => month >= first && month <= end && (month - first) % every === 0);
}

/** Undefined for all of them. */
function numberOf(text = "*"): number | undefined {
  if (text === "*" || text === "?") return undefined;
  const name = MONTH_NAMES.indexOf(text.toLowerCase());
  return name >= 0 ? name + 1 : Number(text);
}
