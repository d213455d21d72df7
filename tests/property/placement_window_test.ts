/**
 * Properties of disruption windows, over time zones and the days when clocks change.
 *
 * @module
 */
import { pure } from "../fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import {
  isWindowOpen,
  nextOpeningMs,
  parseCronSchedule,
} from "../../shared/placement/disruption_window.ts";

const MINUTE_MS = 60_000;

/** Zones that change their clocks at different hours, by half an hour, and never. */
const ZONES = [
  "UTC",
  "Europe/Berlin",
  "America/New_York",
  "America/Sao_Paulo",
  "Australia/Lord_Howe",
  "Asia/Kathmandu",
  "Pacific/Apia",
] as const;

/** Days on which a zone of these changes its clocks, in the night. */
const CHANGES = [
  ["Europe/Berlin", "2026-03-29"],
  ["Europe/Berlin", "2026-10-25"],
  ["America/New_York", "2026-03-08"],
  ["America/New_York", "2026-11-01"],
  ["Australia/Lord_Howe", "2026-04-05"],
] as const;

const anyZone = fc.constantFrom(...ZONES);
/** Half of the times lie within two days of a change. */
const anyTime = fc.oneof(
  fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2028, 0, 1) }),
  fc.tuple(
    fc.constantFrom(...CHANGES.map(([, day]) => day)),
    fc.integer({ min: -48 * 60, max: 48 * 60 }),
  ).map(([day, minutes]) => Date.parse(day) + minutes * MINUTE_MS),
);
const anyDuration = fc.integer({ min: 1, max: 3 * 24 * 60 }).map((minutes) => minutes * MINUTE_MS);
const anyMinute = fc.integer({ min: 0, max: 59 });

/** `09:30`, as the zone's clock shows it; making a format takes longer than using it. */
function clockOf(zone: string): (ms: number) => string {
  const format = new Intl.DateTimeFormat("en-GB", {
    timeZone: zone,
    hour: "2-digit",
    minute: "2-digit",
  });
  return (ms) => format.format(ms);
}

pure(
  "a schedule's next time is the first minute to come at which the zone's clock shows it",
  () => {
    // No zone of the list changes its clocks at these hours.
    const quietHour = fc.integer({ min: 4, max: 22 });
    // From a noon over a change to the next morning, in each of them, whatever else is drawn.
    const examples = CHANGES.map((
      [zone, day],
    ): [number, typeof zone, number, number] => [
      Date.parse(day) - 12 * 60 * MINUTE_MS,
      zone,
      5,
      30,
    ]);
    let changes = 0;
    fc.assert(
      fc.property(anyTime, anyZone, quietHour, anyMinute, (after, zone, hour, minute) => {
        const shown = `${String(hour).padStart(2, "0")}:${String(minute).padStart(2, "0")}`;
        const next = parseCronSchedule(`CRON_TZ=${zone} ${minute} ${hour} * * *`).next(after);
        let expected = (Math.floor(after / MINUTE_MS) + 1) * MINUTE_MS;
        const clock = clockOf(zone);
        while (clock(expected) !== shown) expected += MINUTE_MS;
        assert.equal(next, expected);
        // The clock would show the same a whole number of days earlier.
        if (clock(expected - 24 * 60 * MINUTE_MS) !== shown) changes++;
      }),
      { examples },
    );
    assert.ok(changes >= examples.length, `only ${changes} cases over a change of clocks`);
  },
);

pure("a window is open exactly from an opening on, for as long as it lasts", () => {
  const seen = new Set<boolean>();
  const anyHour = fc.constantFrom("*", "*/6", "0", "1", "2", "3", "12", "23");
  fc.assert(
    fc.property(
      fc.tuple(anyZone, anyMinute, anyHour),
      anyTime,
      anyDuration,
      ([zone, minute, hour], now, durationMs) => {
        const schedule = `CRON_TZ=${zone} ${minute} ${hour} * * *`;
        const window = { schedule, durationMs };
        const { next } = parseCronSchedule(schedule);
        // Goes through the openings one by one; each day has one, whatever its clocks do.
        let opening = next(now - durationMs - 3 * 24 * 60 * MINUTE_MS);
        let open = false;
        let before = -Infinity;
        while (opening !== undefined && opening <= now) {
          assert.ok(
            opening > before && opening - before <= (before < 0 ? Infinity : 27 * 3_600_000),
          );
          open ||= now < opening + durationMs;
          before = opening;
          opening = next(opening);
        }
        seen.add(open);
        assert.equal(isWindowOpen(window, now), open);
        assert.equal(nextOpeningMs(window, now), opening);
        assert.ok(opening !== undefined && isWindowOpen(window, opening));
      },
    ),
  );
  assert.equal(seen.size, 2);
});
