import assert from "node:assert/strict";
import { ageText, coresText, cpuText, priceText, throttledText } from "./cpu_text.ts";

Deno.test({
  name: "cpuText() and throttledText() round, and show what is not known",
  permissions: "none",
  fn() {
    assert.equal(cpuText(449.6), "450m");
    assert.equal(cpuText(0), "0m");
    assert.equal(cpuText(undefined), "-");
    assert.equal(throttledText(411.5), "412");
    assert.equal(throttledText(undefined), "-");
    assert.equal(coresText(3421), "3.42");
  },
});

Deno.test({
  name: "priceText() keeps three digits, and has signs for the ends of the scale",
  permissions: "none",
  fn() {
    assert.equal(priceText(0.266_666), "0.267");
    assert.equal(priceText(1234.56789), "1235");
    assert.equal(priceText(0.000_012_345), "0.0000123");
    assert.equal(priceText(0), "0");
    assert.equal(priceText(null), "∞");
    assert.equal(priceText(undefined), "-");
  },
});

Deno.test({
  name: "ageText() writes spans in one unit",
  permissions: "none",
  fn() {
    assert.deepEqual(
      [0, 250, 1000, 119_000, 120_000, 7_199_000, 7_200_000, 172_800_000, -5].map(ageText),
      ["0ms", "250ms", "1s", "119s", "2m", "119m", "2h", "2d", "0ms"],
    );
    assert.equal(ageText(undefined), "-");
    assert.equal(ageText(NaN), "-");
  },
});
