import assert from "node:assert/strict";
import { isWindowOpen, nextOpeningMs, parseWindowDuration } from "./disruption_window.ts";

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
