import assert from "node:assert/strict";
import fc from "fast-check";
import { forAll } from "../../tests/fixtures/for_all.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { nextLoad, type RecentLoad } from "./recent_load.ts";

const rounded = (load: RecentLoad): object =>
  Object.fromEntries(Object.entries(load).map(([name, value]) => [name, value.toFixed(6)]));

pure("nextLoad() fades usage with 0.4 s, 1 s and 1.5 s, waiting with 1.5 s from 0 on", () => {
  const before = { usageNow: 100, usage1s: 100, usage: 100, waiting: 0.5 };
  const expected = {
    usageNow: 100 + 1000 * (1 - Math.exp(-2.5)),
    usage1s: 100 + 1000 * (1 - Math.exp(-1)),
    usage: 100 + 1000 * (1 - Math.exp(-1 / 1.5)),
    waiting: 0.5 + 0.5 * (1 - Math.exp(-1 / 1.5)),
  };
  const sample = { usage: 1100, pressure: 1, intervalMs: 1000 };
  assert.deepEqual(rounded(nextLoad(before, sample)), rounded(expected));
  const first = { usageNow: 1100, usage1s: 1100, usage: 1100, waiting: 1 - Math.exp(-1 / 1.5) };
  assert.deepEqual(rounded(nextLoad(undefined, sample)), rounded(first));
  const blind = { usageNow: 100, usage1s: 100, usage: 100 };
  assert.deepEqual(nextLoad(before, { usage: 100, intervalMs: 250 }), blind);
});

const sample = fc.record({
  usage: fc.nat(8000),
  pressure: fc.nat(100).map((percent) => percent / 100),
  intervalMs: fc.integer({ min: 10, max: 30_000 }),
});

forAll(
  "nextLoad() stays within what was sampled, however often a constant load is read",
  [sample, sample, fc.integer({ min: 1, max: 8 })],
  (first, then, parts) => {
    const before = nextLoad(undefined, first);
    const once = nextLoad(before, then);
    let often = before;
    for (let i = 0; i < parts; i++) {
      often = nextLoad(often, { ...then, intervalMs: then.intervalMs / parts });
    }
    assert.deepEqual(rounded(often), rounded(once));
    const [least, most] = [Math.min(first.usage, then.usage), Math.max(first.usage, then.usage)];
    for (const mean of [once.usageNow, once.usage1s, once.usage]) {
      assert.ok(least - 1e-9 <= mean && mean <= most + 1e-9, `${mean}`);
    }
    assert.ok((once.waiting ?? NaN) >= 0 && (once.waiting ?? NaN) <= 1);
  },
  1,
);
