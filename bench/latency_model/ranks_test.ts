import assert from "node:assert/strict";
import fc from "fast-check";
import { rankCorrelation, ranks } from "./ranks.ts";

Deno.test({
  name: "ranks() counts from 1 and gives equals the mean of their ranks",
  permissions: "none",
  fn: () => assert.deepEqual(ranks([30, 10, 20, 20, 20]), [5, 1, 3, 3, 3]),
});

Deno.test({
  name: "rankCorrelation() is 1 for any growing relation, -1 for a falling one, NaN for a constant",
  permissions: "none",
  fn() {
    assert.equal(rankCorrelation([1, 2, 3], [1, 10, 1000]), 1);
    assert.equal(rankCorrelation([1, 2, 3], [3, 2, 1]), -1);
    // Ranks 1 2 3 4 against 2 1 4 3: differences of 1 each, so 1 - 6 × 4 / (4 × 15) = 0.6.
    assert.ok(Math.abs(rankCorrelation([1, 2, 3, 4], [20, 10, 40, 30]) - 0.6) < 1e-12);
    assert.ok(Number.isNaN(rankCorrelation([1, 2], [5, 5])));
    assert.throws(() => rankCorrelation([1], [1, 2]), /1 values against 2/);
  },
});

Deno.test({
  name: "rankCorrelation() does not see how far apart values are, nor which side is which",
  permissions: "none",
  fn: () =>
    fc.assert(fc.property(
      fc.array(fc.tuple(fc.nat(50), fc.nat(50)), { minLength: 3 }),
      (pairs) => {
        const [a, b] = [pairs.map(([x]) => x), pairs.map(([, y]) => y)];
        const found = rankCorrelation(a, b);
        fc.pre(!Number.isNaN(found));
        assert.ok(found >= -1 - 1e-9 && found <= 1 + 1e-9);
        assert.ok(Math.abs(rankCorrelation(b, a) - found) < 1e-9);
        assert.ok(Math.abs(rankCorrelation(a.map((x) => Math.exp(x)), b) - found) < 1e-9);
      },
    )),
});
