/**
 * Times that come again, written as five fields of cron.
 *
 * @module
 */
// croner: no dependencies, no timer unless it is given a function, times from an argument, time zones by Intl.
import { Cron } from "croner";
import { quotedText } from "../quoted_text.ts";
import { remembered } from "../remembered.ts";
import { hasDay } from "./cron_days.ts";

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
