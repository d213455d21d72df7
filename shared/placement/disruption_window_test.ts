import assert from "node:assert/strict";
import {
  isWindowOpen,
  nextOpeningMs,
  parseCronSchedule,
  parseWindowDuration,
  remembered,
} from "./disruption_window.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const NIGHT = { schedule: "0 22 * * *", durationMs: 4 * 3_600_000 } as const;

test("isWindowOpen() is true from the opening to the end, over midnight", () => {
  const at = (time: string): boolean => isWindowOpen(NIGHT, Date.parse(time));
  assert.equal(at("2026-05-04T21:59:59.999Z"), false);
  assert.equal(at("2026-05-04T22:00:00Z"), true);
  assert.equal(at("2026-05-05T01:59:59.999Z"), true);
  assert.equal(at("2026-05-05T02:00:00Z"), false);
});

test("isWindowOpen() is always true of a window that lasts to its next opening", () => {
  for (const durationMs of [86_400_000, 9e12]) {
    assert.equal(isWindowOpen({ ...NIGHT, durationMs }, Date.parse("2026-05-04T21:59:00Z")), true);
  }
});

test("nextOpeningMs() is the first opening to come", () => {
  const next = nextOpeningMs(NIGHT, Date.parse("2026-05-04T22:00:00Z"));
  assert.equal(next, Date.parse("2026-05-05T22:00:00Z"));
});

test("parseWindowDuration() takes what is longer than 0", () => {
  assert.equal(parseWindowDuration("1h30m"), 5_400_000);
  for (const text of ["0", "0s", "-1h", "2", "soon", ""]) {
    assert.throws(() => parseWindowDuration(text), { name: "SyntaxError" }, text);
  }
});

function nextOf(text: string, after: string): string | undefined {
  const next = parseCronSchedule(text).next(Date.parse(after));
  return next === undefined ? undefined : new Date(next).toISOString().slice(0, 16);
}

test("parseCronSchedule() counts in UTC, or in the zone that is named", () => {
  assert.equal(nextOf("0 2 * * *", "2026-01-01T01:59:59.999Z"), "2026-01-01T02:00");
  assert.equal(nextOf("0 2 * * *", "2026-01-01T02:00:00Z"), "2026-01-02T02:00");
  assert.equal(
    nextOf("CRON_TZ=Asia/Kolkata 0 2 * * *", "2026-01-01T00:00:00Z"),
    "2026-01-01T20:30",
  );
  assert.equal(nextOf("  0,30 8-9 ? JAN-mar mon ", "2026-01-05T08:00:00Z"), "2026-01-05T08:30");
  assert.equal(nextOf("0 0 29 2 *", "2026-01-01T00:00:00Z"), "2028-02-29T00:00");
});

test("parseCronSchedule() goes on in steps from a value to the end of its field", () => {
  assert.equal(nextOf("5/20 2 * * *", "2026-01-01T02:05:00Z"), "2026-01-01T02:25");
  assert.equal(nextOf("5/20 2 * * *", "2026-01-01T02:45:00Z"), "2026-01-02T02:05");
  assert.equal(nextOf("0 1,20/2 * * *", "2026-01-01T20:00:00Z"), "2026-01-01T22:00");
  assert.equal(nextOf("0 2 * * mon/3", "2026-01-05T02:00:00Z"), "2026-01-08T02:00");
  assert.equal(nextOf("0 2 1 nov/1 *", "2026-01-05T02:00:00Z"), "2026-11-01T02:00");
});

test("parseCronSchedule() comes once on the days when clocks change", () => {
  const berlin = "CRON_TZ=Europe/Berlin 30 2 * * *";
  assert.equal(nextOf(berlin, "2026-03-28T12:00:00Z"), "2026-03-29T01:00");
  assert.equal(nextOf(berlin, "2026-03-29T01:00:00Z"), "2026-03-30T00:30");
  assert.equal(nextOf(berlin, "2026-10-24T12:00:00Z"), "2026-10-25T00:30");
  assert.equal(nextOf(berlin, "2026-10-25T00:30:00Z"), "2026-10-26T01:30");
});

test("parseCronSchedule() takes either of day and weekday", () => {
  assert.equal(nextOf("0 0 13 * 5", "2026-01-01T00:00:00Z"), "2026-01-02T00:00");
  assert.equal(nextOf("0 0 13 * 5", "2026-01-10T00:00:00Z"), "2026-01-13T00:00");
});

test("parseCronSchedule() reads a schedule once, however often it is asked about", () => {
  const once = parseCronSchedule("CRON_TZ=Asia/Kolkata 7 2 * * *");
  assert.equal(parseCronSchedule(" CRON_TZ=Asia/Kolkata  7 2 * * * "), once);
  assert.notEqual(parseCronSchedule("7 2 * * *"), once);
});

test("parseCronSchedule() refuses with the text in the message", () => {
  const refused = [
    ...["", "@daily", "0 2 * *", "0 0 2 * * *", "60 2 * * *", "0 2 * * xyz", "9-3 2 * * *"],
    ...["*/0 2 * * *", "0 0 L * *", "0 0 * * MON#1", "2026-01-01T00:00:00Z", "* ".repeat(500)],
    ...["CRON_TZ=Nowhere/Land 0 2 * * *", "CRON_TZ= 0 2 * * *", "TZ=UTC 0 2 * * *"],
    ...["0 0 32 2 *", "0 0 40/2 1 *", "0 0 * 13 *", "0 0 * */40 *"],
  ];
  for (const text of refused) {
    assert.throws(() => parseCronSchedule(text), {
      name: "SyntaxError",
      message: /schedule: ".*" /,
    }, text);
  }
});

test("parseCronSchedule() refuses days that never come", () => {
  const good = [
    ...["* * *", "? FEB ?", "29 2 *", "31 1 *", "31 2,4,6,7 *", "31 2/5 *", "31 jan-mar *"],
    ...["31 */6 *", "15,31 2 *", "28-31 Feb *", "*/31 2 *", "29-31/2 2 *", "31 2-4 *"],
    // Either of day and weekday is enough.
    ...["31 2 1", "30 feb mon-fri", "30 2 */2"],
  ];
  const never = [
    ...["30 2 *", "30 FEB ?", "31 2,4,6,9,11 *", "31 apr *", "30,31 2 *", "30-31 2 *"],
    ...["31 4-11/5 *", "31 4/7 *", "30/1 2 *"],
  ];
  for (const days of good) assert.ok(nextOf(`0 0 ${days}`, "2026-01-01T00:00:00Z"), days);
  for (const days of [...never, "31 APR ?"]) {
    const refusal = { message: /day that never comes/ };
    assert.throws(() => parseCronSchedule(`CRON_TZ=Europe/Berlin 0 0 ${days}`), refusal, days);
  }
});

function scene(most: number) {
  const worked: string[] = [];
  const ask = remembered((text) => {
    worked.push(text);
    if (text === "bad") throw new SyntaxError("Cannot read it");
    return { text };
  }, { most });
  return { worked, ask };
}

Deno.test("remembered() works each text out once", () => {
  const { worked, ask } = scene(3);
  const first = ask("a");
  assert.equal(ask("a"), first);
  assert.deepEqual(ask("b"), { text: "b" });
  assert.deepEqual(worked, ["a", "b"]);
});

Deno.test("remembered() forgets the one that was asked for the longest ago", () => {
  const { worked, ask } = scene(2);
  for (const text of ["a", "b", "a", "c", "a", "b"]) ask(text);
  assert.deepEqual(worked, ["a", "b", "c", "b"]);
});

Deno.test("remembered() asks again about what could not be worked out", () => {
  const { worked, ask } = scene(2);
  for (let times = 0; times < 2; times++) assert.throws(() => ask("bad"), SyntaxError);
  assert.deepEqual(worked, ["bad", "bad"]);
});
