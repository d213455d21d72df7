import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { intervalBetween, type Reading } from "./interval.ts";

const zero: Reading = { at: 1000, usageMs: 50, periods: 10, throttledPeriods: 3, throttledMs: 80 };
const later: Reading = {
  at: 1250,
  usageMs: 100,
  periods: 12,
  throttledPeriods: 5,
  throttledMs: 230,
};

pure("intervalBetween() gives the growth of all counters", () => {
  assert.deepEqual(intervalBetween([zero, later], { cores: 1 }), {
    at: 1250,
    intervalMs: 250,
    usageMs: 50,
    periods: 2,
    throttledPeriods: 2,
    throttledMs: 150,
  });
  const pair = [{ ...zero, pressureMs: 5 }, { ...later, pressureMs: 105 }] as const;
  assert.equal(intervalBetween(pair, { cores: 1 })?.pressureMs, 100);
});

pure("intervalBetween() gives none when the clock stood, jumped, or too little time passed", () => {
  for (const at of [1000, 999, -1e12, 1009.9, 61_001, 1e12, NaN, Infinity]) {
    assert.equal(intervalBetween([zero, { ...later, at }], { cores: 1000 }), undefined, `${at}`);
  }
  for (const at of [1010, 61_000]) {
    assert.ok(intervalBetween([zero, { ...later, at }], { cores: 1000 }), `${at}`);
  }
});

pure("intervalBetween() gives none when any counter went back", () => {
  const full = { ...later, pressureMs: 9 };
  const counters = ["usageMs", "periods", "throttledPeriods", "throttledMs", "pressureMs"] as const;
  for (const counter of counters) {
    const reset = { ...full, [counter]: 0 };
    const pair = [{ ...zero, pressureMs: 5 }, reset] as const;
    assert.equal(intervalBetween(pair, { cores: 1 }), undefined, counter);
  }
});

pure("intervalBetween() gives none when more CPU was used than the node has", () => {
  // 2 CPUs for 250 ms, and 20 ms by which the stamps may be off.
  const used = (usageMs: number) => ({ ...later, usageMs: zero.usageMs + usageMs });
  assert.ok(intervalBetween([zero, used(540)], { cores: 2 }));
  assert.equal(intervalBetween([zero, used(541)], { cores: 2 }), undefined);
});

pure("intervalBetween() never gives a negative or endless rate", () => {
  const number = fc.double({ noNaN: false });
  const reading: fc.Arbitrary<Reading> = fc.record({
    at: number,
    usageMs: fc.double({ min: 0, max: 1e15 }),
    periods: fc.nat(),
    throttledPeriods: fc.nat(),
    throttledMs: fc.double({ min: 0, max: 1e15 }),
  }, { noNullPrototype: true });
  fc.assert(
    fc.property(reading, reading, (a, b) => {
      const interval = intervalBetween([a, b], { cores: 64 });
      if (interval === undefined) return;
      const { intervalMs, at: _at, ...growth } = interval;
      assert.ok(intervalMs > 0);
      for (const value of Object.values(growth)) assert.ok(Number.isFinite(value) && value >= 0);
    }),
    cases(5),
  );
});
