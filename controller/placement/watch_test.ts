import assert from "node:assert/strict";
import { createDepartureTimes } from "./watch.ts";

Deno.test("createSeenSigns() keeps the time of a sign while it stays, whoever asks first", () => {
  let now = 5;
  const signs = createDepartureTimes(() => now);
  signs.hear("a", "taint x");
  now = 8;
  assert.deepEqual([signs.sinceMs("a", "taint x"), signs.sinceMs("b", "taint x")], [5, 8]);
  now = 9;
  signs.hear("a", "taint x");
  assert.deepEqual([signs.sinceMs("a", "taint x"), signs.sinceMs("b", "taint x")], [5, 8]);
});

Deno.test("createSeenSigns() begins anew with another sign, and after there was none", () => {
  let now = 5;
  const signs = createDepartureTimes(() => now);
  signs.hear("a", "taint x");
  now = 6;
  signs.hear("a", "taint y");
  assert.equal(signs.sinceMs("a", "taint y"), 6);
  signs.hear("a", undefined);
  now = 7;
  assert.equal(signs.sinceMs("a", "taint y"), 7);
});
