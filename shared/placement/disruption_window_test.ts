import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { parseCronSchedule, parseWindowDuration } from "./disruption_window.ts";

pure("parseWindowDuration() takes what is longer than 0", () => {
  assert.equal(parseWindowDuration("1h30m"), 5_400_000);
  for (const text of ["0", "0s", "-1h", "2", "soon", ""]) {
    assert.throws(() => parseWindowDuration(text), { name: "SyntaxError" }, text);
  }
});

pure("parseCronSchedule() finds the next time, in UTC or in the zone that is named", () => {
  const berlin = "CRON_TZ=Europe/Berlin 30 2 * * *";
  const rows: readonly (readonly [schedule: string, after: string, next: string])[] = [
    ["0 2 * * *", "2026-01-01T01:59:59.999Z", "2026-01-01T02:00"],
    ["0 2 * * *", "2026-01-01T02:00:00Z", "2026-01-02T02:00"],
    ["CRON_TZ=Asia/Kolkata 0 2 * * *", "2026-01-01T00:00:00Z", "2026-01-01T20:30"],
    ["  0,30 8-9 ? JAN-mar mon ", "2026-01-05T08:00:00Z", "2026-01-05T08:30"],
    ["0 0 29 2 *", "2026-01-01T00:00:00Z", "2028-02-29T00:00"],
    // Steps go on from a value to the end of its field.
    ["5/20 2 * * *", "2026-01-01T02:05:00Z", "2026-01-01T02:25"],
    ["5/20 2 * * *", "2026-01-01T02:45:00Z", "2026-01-02T02:05"],
    ["0 1,20/2 * * *", "2026-01-01T20:00:00Z", "2026-01-01T22:00"],
    ["0 2 * * mon/3", "2026-01-05T02:00:00Z", "2026-01-08T02:00"],
    ["0 2 1 nov/1 *", "2026-01-05T02:00:00Z", "2026-11-01T02:00"],
    // Once on the days when clocks change.
    [berlin, "2026-03-28T12:00:00Z", "2026-03-29T01:00"],
    [berlin, "2026-03-29T01:00:00Z", "2026-03-30T00:30"],
    [berlin, "2026-10-24T12:00:00Z", "2026-10-25T00:30"],
    [berlin, "2026-10-25T00:30:00Z", "2026-10-26T01:30"],
    // Either of day and weekday is enough.
    ["0 0 13 * 5", "2026-01-01T00:00:00Z", "2026-01-02T00:00"],
    ["0 0 13 * 5", "2026-01-10T00:00:00Z", "2026-01-13T00:00"],
    ["0 0 31 2 1", "2026-01-01T00:00:00Z", "2026-02-02T00:00"],
    ["0 0 31 2,4,6,7 *", "2026-01-01T00:00:00Z", "2026-07-31T00:00"],
  ];
  for (const [schedule, after, expected] of rows) {
    const next = parseCronSchedule(schedule).next(Date.parse(after)) ?? NaN;
    assert.equal(new Date(next).toISOString().slice(0, 16), expected, schedule);
  }
});

pure("parseCronSchedule() refuses with the text in the message, each time", () => {
  const refused = [
    ...["", "@daily", "0 2 * *", "0 0 2 * * *", "60 2 * * *", "0 2 * * xyz", "9-3 2 * * *"],
    ...["*/0 2 * * *", "0 0 L * *", "0 0 * * MON#1", "2026-01-01T00:00:00Z", "* ".repeat(500)],
    ...["CRON_TZ=Nowhere/Land 0 2 * * *", "CRON_TZ= 0 2 * * *", "TZ=UTC 0 2 * * *"],
    ...["0 0 32 2 *", "0 0 40/2 1 *", "0 0 * 13 *", "0 0 * */40 *"],
  ];
  const never = ["30 2 *", "30 FEB ?", "31 2,4,6,9,11 *", "30-31 2 *", "31 4/7 *", "30/1 2 *"]
    .map((days) => `CRON_TZ=Europe/Berlin 0 0 ${days}`);
  for (const text of [...refused, ...never, ...never]) {
    const message = never.includes(text) ? /".*" .* day that never comes/ : /schedule: ".*" /;
    assert.throws(() => parseCronSchedule(text), { name: "SyntaxError", message }, text);
  }
});
