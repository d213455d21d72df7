/**
 * When running replicas may be moved.
 *
 * @module
 */
import { parseGoDuration } from "../go_duration.ts";
import { Cron } from "croner";
import { quotedText } from "../quoted_text.ts";
import { remembered } from "../remembered.ts";

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

// croner: no dependencies, no timer unless it is given a function, times from an argument, time zones by Intl.

/** When something happens. All times are ms since 1970. */
export interface CronSchedule {
  /** The first time after `afterMs`, whole seconds; undefined where there is none. */
  next(afterMs: number): number | undefined;
}

/** Nobody writes more; longer text is not even looked at. */
const LONGEST = 256;

/** Schedules that are kept: workloads have few different ones, and each is read for every pod that is made. */
const MOST_KEPT = 256;

const ZONE = /^CRON_TZ=(\S+)\s+/;

const VALUE = "(?:\\d{1,2}|[A-Za-z]{3})";
const ITEM = `(?:[*?]|${VALUE}(?:-${VALUE})?)(?:/\\d{1,2})?`;
const FIELD = `${ITEM}(?:,${ITEM})*`;

/** Less than croner knows: `L`, `W`, `#`, `@daily` and dates are nothing that Kubernetes' users know. */
const FIVE_FIELDS = new RegExp(`^${FIELD}(?:\\s+${FIELD}){4}$`);

/** Before all that is asked, and the eight years in which no 29 February comes are not ahead of it. */
const FIRST_MS = Date.UTC(2000, 0, 1);

/**
 * The schedule of a text such as `0 2 * * *` or `CRON_TZ=Europe/Berlin 0 2 * * 1-5`; in UTC where no zone
 * is named. Of a day's and a weekday's field that both say something, one is enough. A time that the
 * clocks jump over comes when they have jumped; one that they show twice comes once, where the field of
 * the hour is a number. Throws a `SyntaxError` that quotes the text where it can't be read, and where no
 * time fits it.
 */
export function parseCronSchedule(text: string): CronSchedule {
  const trimmed = text.length > LONGEST ? "" : text.trim();
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

/** The schedule of a zone with five fields after it, whose days come. Throws where one does not exist. */
const scheduleOf = remembered((text): CronSchedule => {
  const [zone = "", ...fields] = text.split(/\s+/);
  const cron = new Cron(fields.map(withEnds).join(" "), { mode: "5-part", timezone: zone });
  // A name that is no zone is not found out before.
  cron.nextRun(new Date(FIRST_MS));
  return { next: (afterMs) => cron.nextRun(new Date(afterMs))?.getTime() };
}, { most: MOST_KEPT });

/** The last value of each field. */
const LAST = ["59", "23", "31", "12", "6"];

/** `5/15` begins at 5 and goes on to the end of the field, as Kubernetes reads it; croner asks for the end. */
function withEnds(field: string, index: number): string {
  return field.replace(/(^|,)(\w+)\//g, `$1$2-${LAST[index]}/`);
}

function refusal(text: string, why: string, cause?: unknown): SyntaxError {
  return new SyntaxError(`Cannot parse schedule: ${quotedText(text)} ${why}`, { cause });
}

/** The fields that name days, as cron writes them, for instance `1-7`, `jan,3-5` and `*`. */
export interface CronDays {
  readonly day: string;
  readonly month: string;
  readonly weekday: string;
}

/** Days of each month, in the years in which it has most. */
const MOST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

const DAY_ITEM = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/;

/**
 * False where no month of those named has one of the days named. Each weekday comes, and is enough where
 * days are named beside it. Of fields that are no cron it tells nothing.
 */
export function hasDay({ day, month, weekday }: CronDays): boolean {
  if (!/^[*?]$/.test(weekday)) return true;
  const earliest = Math.min(
    ...day.split(",").map((item) => numberOf(DAY_ITEM.exec(item)?.[1]) ?? 1),
  );
  return month.split(",").flatMap(monthsOf).some((one) => (MOST_DAYS[one - 1] ?? 0) >= earliest);
}

function monthsOf(item: string): readonly number[] {
  const [, from, to, step] = DAY_ITEM.exec(item) ?? [];
  const first = numberOf(from) ?? 1;
  // A single month is one; a step goes on to the end of the year.
  const end = numberOf(to) ?? (numberOf(from) === undefined || step !== undefined ? 12 : first);
  const every = Math.max(1, Number(step ?? 1));
  return MOST_DAYS.keys().map((index) => index + 1)
    .filter((month) => month >= first && month <= end && (month - first) % every === 0).toArray();
}

/** Undefined for all of them. */
function numberOf(text = "*"): number | undefined {
  if (text === "*" || text === "?") return undefined;
  const name = MONTH_NAMES.indexOf(text.toLowerCase());
  return name >= 0 ? name + 1 : Number(text);
}
