import assert from "node:assert/strict";
import fc from "fast-check";
import { cases } from "../../tests/fixtures/cases.ts";
import { parseBytes, parseCPU } from "../quantity.ts";
import { amountText } from "./amount_text.ts";

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
