/**
 * Does a day come that a schedule names? Told from its fields, without a look at the calendar: whoever
 * searches that for 31 April searches to its end.
 *
 * @module
 */

/** The fields that name days, as cron writes them, for instance `1-7`, `jan,3-5` and `*`. */
export interface CronDays {
  readonly day: string;
  readonly month: string;
  readonly weekday: string;
}

/** Days of each month, in the years in which it has most. */
const MOST_DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

const MONTH_NAMES = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

const ITEM = /^([*?]|\w+)(?:-(\w+))?(?:\/(\d+))?$/;

/**
 * False where no month of those named has one of the days named. Each weekday comes, and is enough where
 * days are named beside it. Of fields that are no cron it tells nothing.
 */
export function hasDay({ day, month, weekday }: CronDays): boolean {
  if (!/^[*?]$/.test(weekday)) return true;
  const earliest = Math.min(...day.split(",").map((item) => numberOf(ITEM.exec(item)?.[1]) ?? 1));
  return month.split(",").flatMap(monthsOf).some((one) => (MOST_DAYS[one - 1] ?? 0) >= earliest);
}

function monthsOf(item: string): readonly number[] {
  const [, from, to, step] = ITEM.exec(item) ?? [];
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
