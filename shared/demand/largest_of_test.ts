import assert from "node:assert/strict";
import { largestOf } from "./largest_of.ts";
import type { DemandSignal } from "./signal.ts";

const QUIET: DemandSignal = {
  intervalMs: 250,
  usage: 0,
  heldBack: 0,
  throttledShare: 0,
  scarcity: 0,
};

Deno.test({
  name: "largestOf() is the largest of what its rules say, and 0 without any",
  permissions: "none",
  fn() {
    assert.equal(largestOf(() => 3, () => 7, () => 5)(QUIET), 7);
    assert.equal(largestOf()(QUIET), 0);
  },
});

Deno.test({
  name: "largestOf() asks every rule each time, since rules remember",
  permissions: "none",
  fn() {
    let asked = 0;
    const rule = largestOf(() => 10, () => ++asked);
    rule(QUIET);
    assert.equal(rule(QUIET), 10);
    assert.equal(asked, 2);
  },
});
