import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { forAll } from "../../tests/fixtures/for_all.ts";
import fc from "fast-check";
import { nextLoad, type RecentLoad } from "./recent_load.ts";

function close(actual: number | undefined, expected: number): void {
  assert.ok(Math.abs((actual ?? NaN) - expected) < 1e-9, `${actual}, expected ${expected}`);
}

pure("nextLoad() fades usage with 0.4 s, 1 s and 1.5 s, waiting with 1.5 s", () => {
  const before = { usageNow: 100, usage1s: 100, usage: 100, waiting: 0.5 };
  const load = nextLoad(before, { usage: 1100, pressure: 1, intervalMs: 1000 });
  close(load.usageNow, 100 + 1000 * (1 - Math.exp(-2.5)));
  close(load.usage1s, 100 + 1000 * (1 - Math.exp(-1)));
  close(load.usage, 100 + 1000 * (1 - Math.exp(-1 / 1.5)));
  close(load.waiting, 0.5 + 0.5 * (1 - Math.exp(-1 / 1.5)));
});

pure("nextLoad() begins with the first usage, and without any waiting", () => {
  const first = nextLoad(undefined, { usage: 900, pressure: 1, intervalMs: 300 });
  assert.deepEqual([first.usage1s, first.usage], [900, 900]);
  close(first.waiting, 1 - Math.exp(-0.2));
});

pure("nextLoad() has no waiting where the kernel reports none", () => {
  const first = nextLoad(undefined, { usage: 100, intervalMs: 250 });
  assert.deepEqual(first, { usageNow: 100, usage1s: 100, usage: 100 });
  assert.deepEqual(nextLoad({ ...first, waiting: 0.5 }, { usage: 100, intervalMs: 250 }), first);
});

const sample = fc.record({
  usage: fc.integer({ min: 0, max: 8000 }),
  pressure: fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100),
  intervalMs: fc.integer({ min: 10, max: 30_000 }),
});

forAll("nextLoad() stays within what was sampled", [
  fc.array(sample, { minLength: 1, maxLength: 20 }),
], (samples) => {
  const load = samples.reduce<RecentLoad | undefined>(nextLoad, undefined);
  const usages = samples.map(({ usage }) => usage);
  const [least, most] = [Math.min(...usages) - 1e-9, Math.max(...usages) + 1e-9];
  for (const mean of [load?.usageNow ?? NaN, load?.usage1s ?? NaN, load?.usage ?? NaN]) {
    assert.ok(least <= mean && mean <= most, `${mean}`);
  }
  assert.ok((load?.waiting ?? NaN) >= 0 && (load?.waiting ?? NaN) <= 1);
}, 1);

forAll("nextLoad() does not depend on how often a constant load is read", [
  sample,
  sample,
  fc.integer({ min: 1, max: 8 }),
], (first, then, parts) => {
  const before = nextLoad(undefined, first);
  const once = nextLoad(before, then);
  let often = before;
  for (let i = 0; i < parts; i++) {
    often = nextLoad(often, { ...then, intervalMs: then.intervalMs / parts });
  }
  for (const field of ["usageNow", "usage1s", "usage", "waiting"] as const) {
    const [a = NaN, b = NaN] = [often[field], once[field]];
    assert.ok(Math.abs(a - b) < 1e-6, `${field}: ${a}, ${b}`);
  }
}, 1);
