import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../tests/fixtures/cases.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { amountText, truncatedProduct } from "./amounts.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("amountText() writes CPU in millicores and memory in bytes or Mi", () => {
  assert.equal(amountText("cpu", 250), "250m");
  assert.equal(amountText("cpu", 2000), "2");
  assert.equal(amountText("cpu", 3.781021962), "3.781m");
  assert.equal(amountText("cpu", 279.9999999), "280m");
  assert.equal(amountText("memory", 64 * 2 ** 20), "64Mi");
  assert.equal(amountText("memory", 88_617_123), "88617123");
  assert.equal(amountText("memory", 450_035_712.4), "450035712");
});

pure("amountText() is a quantity that Kubernetes reads, and memory never has an m", () => {
  const amount = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
  fc.assert(
    fc.property(
      amount,
      fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000),
      (any, usual) => {
        for (const drawn of [any, usual]) {
          assert.doesNotThrow(() => parseCPU(amountText("cpu", drawn)));
          const text = amountText("memory", drawn);
          assert.match(text, /^\d+(Mi)?$/);
          assert.equal(parseBytes(text), Math.trunc(Math.min(drawn, Number.MAX_SAFE_INTEGER)));
        }
      },
    ),
    cases(5),
  );
});

pure("truncatedProduct() makes 88617123 of 73847603 × 1.2, and no less than decimals would", () => {
  assert.equal(truncatedProduct(73_847_603, 1.2), 88_617_123);
  assert.ok(100 * 1.15 < 115, "binary fractions");
  assert.equal(truncatedProduct(100, 1.15), 115);
  assert.ok(1.001 * 1000 < 1001);
  assert.equal(truncatedProduct(1.001 * 1000, 1), 1001);
  assert.equal(truncatedProduct(280, 1.2), 336);
  assert.equal(truncatedProduct(0, 10), 0);
  assert.equal(truncatedProduct(0.9, 1), 0);
});

pure("truncatedProduct() is exact for whole amounts and factors of up to four decimals", () => {
  const amount = fc.nat({ max: 2 ** 48 });
  const tenThousandths = fc.integer({ min: 10_000, max: 100_000 });
  fc.assert(
    fc.property(amount, tenThousandths, (value, factor) => {
      const exact = BigInt(value) * BigInt(factor) / 10_000n;
      assert.equal(truncatedProduct(value, factor / 10_000), Number(exact));
    }),
    cases(5),
  );
});

pure("truncatedProduct() is at most one below the product of any amount, and never above", () => {
  const amount = fc.maxSafeNat().map((parts) => parts / 2 ** 13);
  const factor = fc.nat({ max: 9e6 }).map((millionths) => 1 + millionths / 1e6);
  fc.assert(
    fc.property(amount, factor, (value, by) => {
      const found = truncatedProduct(value, by);
      // A millionth of the amount, times ten, is what its rounding may add.
      assert.ok(Number.isInteger(found) && found <= value * by + 1e-2 && found > value * by - 1.01);
    }),
    cases(5),
  );
});

pure("truncatedProduct() ends at the largest number that can be counted", () => {
  assert.equal(truncatedProduct(Number.MAX_SAFE_INTEGER, 10), Number.MAX_SAFE_INTEGER);
  assert.equal(truncatedProduct(Number.MAX_SAFE_INTEGER, 1), Number.MAX_SAFE_INTEGER);
});

pure("truncatedProduct() refuses what is no amount or no factor, naming it", () => {
  for (const wrong of [-1, NaN, Infinity]) {
    assert.throws(() => truncatedProduct(wrong, 1.2), {
      name: "RangeError",
      message: new RegExp(`${wrong}: .*amount`),
    });
  }
  for (const wrong of [-1, NaN, Infinity, 1e-9]) {
    assert.throws(() => truncatedProduct(1, wrong), {
      name: "RangeError",
      message: new RegExp(`by ${wrong}: `),
    });
  }
});
