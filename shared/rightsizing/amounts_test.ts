import fc from "fast-check";
import assert from "node:assert/strict";
import { cases } from "../../tests/fixtures/cases.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { amountText, truncatedProduct } from "./amounts.ts";

pure("amountText() writes CPU in millicores and memory in bytes or Mi", () => {
  const rows = [
    ["cpu", 250, "250m"],
    ["cpu", 2000, "2"],
    ["cpu", 3.781021962, "3.781m"],
    ["cpu", 279.9999999, "280m"],
    ["memory", 64 * 2 ** 20, "64Mi"],
    ["memory", 88_617_123, "88617123"],
    ["memory", 450_035_712.4, "450035712"],
  ] as const;
  for (const [resource, amount, text] of rows) assert.equal(amountText(resource, amount), text);
});

pure("amountText() is a quantity that Kubernetes reads, and memory never has an m", () => {
  const any = fc.double({ min: 0, noNaN: true, noDefaultInfinity: true });
  const usual = fc.nat({ max: 1e15 }).map((thousandths) => thousandths / 1000);
  fc.assert(
    fc.property(fc.oneof(any, usual), (drawn) => {
      assert.doesNotThrow(() => parseCPU(amountText("cpu", drawn)));
      const text = amountText("memory", drawn);
      assert.match(text, /^\d+(Mi)?$/);
      assert.equal(parseBytes(text), Math.trunc(Math.min(drawn, Number.MAX_SAFE_INTEGER)));
    }),
    cases(5),
  );
});

pure("truncatedProduct() is no less than decimals would be", () => {
  assert.ok(100 * 1.15 < 115 && 1.001 * 1000 < 1001, "binary fractions");
  const rows = [
    [73_847_603, 1.2, 88_617_123],
    [100, 1.15, 115],
    [1.001 * 1000, 1, 1001],
    [280, 1.2, 336],
    [0, 10, 0],
    [0.9, 1, 0],
    [Number.MAX_SAFE_INTEGER, 10, Number.MAX_SAFE_INTEGER],
    [Number.MAX_SAFE_INTEGER, 1, Number.MAX_SAFE_INTEGER],
  ] as const;
  for (const [value, factor, product] of rows) {
    assert.equal(truncatedProduct(value, factor), product, `${value} × ${factor}`);
  }
});

pure("truncatedProduct() is exact for four decimals, one below at most for any", () => {
  const tenThousandths = fc.integer({ min: 10_000, max: 100_000 });
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 48 }), tenThousandths, (value, factor) => {
      const exact = BigInt(value) * BigInt(factor) / 10_000n;
      assert.equal(truncatedProduct(value, factor / 10_000), Number(exact));
    }),
    cases(5),
  );
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
