import assert from "node:assert/strict";
import { convergence } from "./convergence.ts";

/** One entry a second; the load steps at 10 s and holds until 50 s. */
function took(limitAt: (second: number) => number): number | undefined {
  const limit = Float32Array.from({ length: 60 }, (_, second) => limitAt(second));
  return convergence({ limit }, { change: { atS: 10, untilS: 50, from: 1, to: 4 }, stepS: 1 });
}

Deno.test({
  name: "convergence() ends with the change that brings the limit near its final value for good",
  permissions: "none",
  fn() {
    // Entry 20 stands for 21 s.
    assert.equal(took((second) => second < 20 ? 100 : 400), 11);
    assert.equal(took((second) => second < 20 ? 100 : second < 30 ? 370 : 400), 11);
    assert.equal(took((second) => second < 20 ? 100 : second < 30 ? 300 : 400), 21);
    assert.equal(took((second) => second < 20 ? 100 : second === 25 ? 600 : 400), 17);
  },
});

Deno.test({
  name: "convergence() is 0 for a limit that was there, and looks no further than the level holds",
  permissions: "none",
  fn() {
    assert.equal(took(() => 400), 0);
    assert.equal(took((second) => second < 50 ? 400 : 100), 0);
    assert.equal(took((second) => second % 2 === 0 ? 400 : 430), 0);
  },
});

Deno.test({
  name: "convergence() is undefined for a limit that still moves in the last quarter",
  permissions: "none",
  fn() {
    assert.equal(took((second) => second === 45 ? 600 : 400), undefined);
    assert.equal(took((second) => 100 * second), undefined);
  },
});
