import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { thresholdGuard, vpaUpdater } from "./guard.ts";

const HOUR_MS = 3_600_000;

pure("thresholdGuard() leaves changes of less than the threshold", () => {
  const guard = thresholdGuard({ changeThresholdPercent: 10, cooldownMs: 0 });
  const at = (value: number) => guard({ value }, { value: 1000, ageMs: HOUR_MS });
  assert.deepEqual([1099, 1100, 901, 900].map(at), [undefined, 1100, undefined, 900]);
});

pure("thresholdGuard() waits for the cooldown", () => {
  const guard = thresholdGuard();
  const at = (ageMs: number) => guard({ value: 2000 }, { value: 1000, ageMs });
  assert.deepEqual([0, 1_799_999, 1_800_000].map(at), [undefined, undefined, 2000]);
});

pure("thresholdGuard() lowers memory to above the recent peak at most, and lets it rise", () => {
  const standing = { value: 1000, ageMs: HOUR_MS };
  const careful = thresholdGuard({ keepsPeak: true });
  assert.equal(careful({ value: 700, peak: 700 }, standing), 805);
  assert.equal(careful({ value: 805, peak: 700 }, standing), 805);
  assert.equal(careful({ value: 700, peak: 720 }, standing), undefined, "within two steps");
  assert.equal(careful({ value: 1200, peak: 1100 }, standing), 1200);
  assert.equal(thresholdGuard()({ value: 800, peak: 700 }, standing), 800);
});

pure("vpaUpdater() acts outside of the bounds at once", () => {
  const guard = vpaUpdater();
  const at = (value: number) =>
    guard({ value: 1000, lower: 800, upper: 1300 }, { value, ageMs: 0 });
  assert.deepEqual([799, 800, 1300, 1301].map(at), [1000, undefined, undefined, 1000]);
});

pure("vpaUpdater() inside of the bounds changes old pods by a tenth and more", () => {
  const guard = vpaUpdater();
  const at = (value: number, hours: number) =>
    guard({ value: 1090, lower: 800, upper: 1300 }, { value, ageMs: hours * HOUR_MS });
  assert.deepEqual([at(900, 11.9), at(900, 12), at(1000, 12)], [undefined, 1090, undefined]);
});
