import assert from "node:assert/strict";
import { momentText } from "./moment_text.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

Deno.test("momentText() names the day only where it is another one, and is never too early", () => {
  assert.equal(momentText("2026-01-01T12:00:10.000Z", NOW), "12:00:10Z");
  assert.equal(momentText("2026-01-01T12:00:10.001Z", NOW), "12:00:11Z");
  assert.equal(momentText("2026-01-02T02:00:00.000Z", NOW), "2026-01-02 02:00:00Z");
});
