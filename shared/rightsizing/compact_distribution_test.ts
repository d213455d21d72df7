import assert from "node:assert/strict";
import fc from "fast-check";
import { compactDistribution } from "./compact_distribution.ts";
import type { Distribution } from "./distribution.ts";
import { samplesDistribution } from "./samples_distribution.ts";

function of(values: readonly number[]): Distribution {
  return samplesDistribution(Float64Array.from(values), { oldestMs: 5, newestMs: 7 });
}

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const samples = fc.array(fc.double({ min: 0, max: 1e12, noNaN: true }), {
  minLength: 102,
  maxLength: 400,
});

pure("compactDistribution() has all whole percents exactly, and count, extremes and times", () => {
  fc.assert(fc.property(samples, (values) => {
    const [exact, compact] = [of(values), compactDistribution(of(values))];
    for (let percent = 0; percent <= 100; percent++) {
      const fraction = percent / 100;
      assert.equal(compact.quantile(fraction), exact.quantile(fraction), `P${percent}`);
    }
    const { quantile: _exact, ...figures } = exact;
    const { quantile: _compact, ...same } = compact;
    assert.deepEqual(same, figures);
  }));
});

pure("compactDistribution() stays between the percents on both sides of a fraction", () => {
  fc.assert(fc.property(samples, fc.double({ min: 0, max: 1, noNaN: true }), (values, fraction) => {
    const [exact, compact] = [of(values), compactDistribution(of(values))];
    const found = compact.quantile(fraction);
    const low = exact.quantile(Math.floor(fraction * 100) / 100);
    const high = exact.quantile(Math.ceil(fraction * 100) / 100);
    const least = Math.abs(found) * 1e-12;
    assert.ok(low - least <= found && found <= high + least, `${low} ${found} ${high}`);
  }));
});

pure("compactDistribution() keeps no samples but those of a short distribution", () => {
  const long = of(Array.from({ length: 1000 }, (_, index) => index));
  let asked = 0;
  const compact = compactDistribution({
    ...long,
    quantile(fraction) {
      asked++;
      return long.quantile(fraction);
    },
  });
  assert.equal(asked, 101);
  assert.equal(compact.quantile(0.9), long.quantile(0.9));
  assert.equal(asked, 101);
  const short = of(Array.from({ length: 101 }, (_, index) => index));
  assert.equal(compactDistribution(short), short);
});

pure("compactDistribution() refuses fractions outside of 0 to 1, and quantiles of nothing", () => {
  const compact = compactDistribution(of(Array.from({ length: 200 }, () => 1)));
  for (const fraction of [-0.1, 1.1, NaN]) {
    assert.throws(() => compact.quantile(fraction), RangeError);
  }
  assert.throws(() => compactDistribution(of([])).quantile(0.5), RangeError);
});
