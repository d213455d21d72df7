import assert from "node:assert/strict";
import { knownReaction } from "./known_reaction.ts";

/** Ten steps a second: 100 m, and 400 m from 3.0 s to 6.0 s; the limit is 450 m from a step on. */
function reaction(raisedAt: number, { ceiling = 1000, atS = 3 } = {}) {
  const demand = Float32Array.from({ length: 100 }, (_, k) => k >= 30 && k < 60 ? 400 : 100);
  const limit = Float32Array.from({ length: 100 }, (_, k) => k >= raisedAt ? 450 : 150);
  const change = { atS, untilS: 6, from: 0.1, to: 0.4 };
  return knownReaction({ demand, limit, ceiling }, { change, stepS: 0.1 });
}

function near(actual: number | undefined, expected: number): void {
  assert.ok(actual !== undefined && Math.abs(actual - expected) < 1e-6, `${actual} ≠ ${expected}`);
}

Deno.test({
  name:
    "knownReaction() counts from the burst's beginning to the end of the first step at its demand",
  permissions: "none",
  fn() {
    // Entry 34 stands for 3.5 s.
    const { reactionS, wanted, lengthS } = reaction(34);
    near(reactionS, 0.5);
    near(wanted, 400);
    near(lengthS, 3);
  },
});

Deno.test({
  name: "knownReaction() is 0 where the limit was there, undefined where it never was",
  permissions: "none",
  fn() {
    assert.equal(reaction(0).reactionS, 0);
    assert.equal(reaction(29).reactionS, 0);
    near(reaction(30).reactionS, 0.1);
    near(reaction(59).reactionS, 3);
    assert.equal(reaction(60).reactionS, undefined);
  },
});

Deno.test({
  name: "knownReaction() asks for no more than the ceiling",
  permissions: "none",
  fn() {
    const { reactionS, wanted } = reaction(90, { ceiling: 150 });
    assert.equal(wanted, 150);
    assert.equal(reactionS, 0);
  },
});

Deno.test({
  name: "knownReaction() takes a beginning within a step as it is",
  permissions: "none",
  fn() {
    // The first whole step after 2.95 s ends at 3.1 s.
    near(reaction(30, { atS: 2.95 }).reactionS, 0.15);
  },
});
