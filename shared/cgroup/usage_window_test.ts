import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { createUsageWindow } from "./usage_window.ts";

/** Adds readings every 250 ms at these millicores, one value a second. */
function fill(values: readonly number[], options = {}) {
  const window = createUsageWindow(options);
  let usageMs = 7;
  window.add(0, usageMs);
  for (let tick = 1; tick <= values.length * 4; tick++) {
    usageMs += (values[Math.ceil(tick / 4) - 1] ?? 0) / 1000 * 250;
    window.add(tick * 250, usageMs);
  }
  return { window, usageMs, at: values.length * 1000 };
}

pure("percentile() is 0 before a step is full, and the usage where it is constant", () => {
  const window = createUsageWindow();
  assert.equal(window.percentile(), 0);
  window.add(0, 0);
  window.add(999, 500);
  assert.equal(window.percentile(), 0);
  window.add(1000, 500);
  assert.equal(window.percentile(), 500);
});

pure("percentile() is the nearest rank of the steps' means", () => {
  const ofHundred = (busy: number) =>
    fill(Array.from({ length: 100 }, (_, i) => i < busy ? 800 : 100)).window.percentile();
  // 5 of 100 seconds busy lie above the 95th percentile, 6 do not.
  assert.ok(Math.abs(ofHundred(5) - 100) < 0.01);
  assert.ok(Math.abs(ofHundred(6) - 800) < 0.01);
});

pure("percentile() forgets what is older than the window", () => {
  const values = [...Array(10).fill(900), ...Array(20).fill(50)];
  assert.ok(fill(values, { steps: 20 }).window.percentile() < 50.01);
  assert.ok(fill(values, { steps: 21 }).window.percentile() < 50.01);
  assert.ok(fill(values, { steps: 22 }).window.percentile() > 899);
});

pure("add() counts a long gap for as many steps as it lasted", () => {
  const { window, usageMs, at } = fill(Array(20).fill(900), { steps: 20 });
  window.add(at + 60_000, usageMs + 600);
  assert.ok(Math.abs(window.percentile() - 10) < 0.01);
});

pure("add() begins anew after a reset or a clock that went back, and keeps what it knew", () => {
  const { window, at } = fill(Array(20).fill(300));
  window.add(at + 250, 0);
  window.add(at + 1250, 300);
  window.add(0, 600);
  window.add(1000, 900);
  assert.ok(Math.abs(window.percentile() - 300) < 0.01);
});

forAll("percentile() lies between the smallest and the largest mean", [
  fc.array(fc.integer({ min: 0, max: 64_000 }), { minLength: 1 }),
], (values) => {
  const found = fill(values, { steps: 30 }).window.percentile();
  const kept = values.slice(-30);
  assert.ok(found >= Math.min(...kept) * 0.9999 - 1e-6);
  assert.ok(found <= Math.max(...kept) * 1.0001 + 1e-6);
});
