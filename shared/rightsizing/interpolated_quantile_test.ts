import assert from "node:assert/strict";
import fc from "fast-check";
import { interpolatedQuantile } from "./interpolated_quantile.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function quantile(values: readonly number[], fraction: number): number {
  const ordered = values.toSorted((a, b) => a - b);
  return interpolatedQuantile(
    { count: ordered.length, valueAt: (rank) => ordered[rank]! },
    fraction,
  );
}

const values = fc.array(fc.nat({ max: 2 ** 36 }), { minLength: 1, maxLength: 60 });
const fraction = fc.oneof(
  fc.nat({ max: 1e6 }).map((millionths) => millionths / 1e6),
  fc.constantFrom(1 - 2 ** -53, 0.9, 0.99),
);

pure("interpolatedQuantile() is the middle of [100,200,300] at P50 and 280 at P90", () => {
  assert.equal(quantile([100, 200, 300], 0.5), 200);
  assert.equal(quantile([100, 200, 300], 0.9), 280);
  assert.equal(quantile([100, 200, 300], 0), 100);
  assert.equal(quantile([100, 200, 300], 1), 300);
  assert.equal(quantile([7], 0.95), 7);
});

pure("interpolatedQuantile() is exact in whole numbers where the quantile is whole", () => {
  const percent = fc.constantFrom(50, 90, 95, 99);
  const inHundreds = values.map((drawn) => drawn.map((one) => 100 * Math.floor(one / 100)));
  const some = fc.oneof(values, inHundreds);
  fc.assert(
    fc.property(some, percent, (drawn, share) => {
      const ordered = drawn.map(BigInt).toSorted((a, b) => (a < b ? -1 : 1));
      const hundredths = BigInt(share) * BigInt(drawn.length - 1);
      const below = Number(hundredths / 100n);
      const low = ordered[below]!;
      const high = ordered[below + 1] ?? low;
      const exact = 100n * low + (high - low) * (hundredths % 100n);
      const found = quantile(drawn, share / 100);
      if (exact % 100n === 0n) assert.equal(found, Number(exact / 100n));
      else assert.ok(Math.abs(found - Number(exact) / 100) <= 1e-4);
    }),
  );
});

pure("interpolatedQuantile() stays between two neighbours, whatever their digits", () => {
  const amount = fc.double({ min: 0, max: 1e13, noNaN: true });
  const near = fc.tuple(amount, fc.double({ min: 1, max: 4, noNaN: true }))
    .map(([low, factor]): [number, number] => [low, low * factor]);
  fc.assert(
    fc.property(near, fraction, ([low, high], share) => {
      const found = quantile([low, high], share);
      assert.ok(low <= found && found <= high, `${found} of ${low} and ${high}`);
    }),
  );
});

pure(
  "interpolatedQuantile() never falls as the fraction grows, and stays within the values",
  () => {
    fc.assert(fc.property(values, fraction, fraction, (drawn, a, b) => {
      const low = quantile(drawn, Math.min(a, b));
      const high = quantile(drawn, Math.max(a, b));
      assert.ok(Math.min(...drawn) <= low && low <= high && high <= Math.max(...drawn));
    }));
  },
);

pure("interpolatedQuantile() refuses fractions outside of 0..1, and no values", () => {
  for (const wrong of [-0.1, 1.1, NaN]) {
    assert.throws(() => quantile([1], wrong), {
      name: "RangeError",
      message: new RegExp(`: ${wrong} `),
    });
  }
  assert.throws(() => quantile([], 0.5), /^RangeError: .* 0 samples/);
});
