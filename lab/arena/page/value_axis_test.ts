import { pure } from "../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { valueAxis } from "./value_axis.ts";

pure("valueAxis() is logarithmic from a ratio of six on, or when asked to be", () => {
  const label = "ms";
  assert.equal(valueAxis([1, 5], { label }).type, undefined);
  assert.equal(valueAxis([1, 6], { label }).type, "log");
  assert.equal(valueAxis([1, 2], { label, log: true }).type, "log");
  assert.equal(valueAxis([0, 100], { label }).type, undefined);
});

pure("valueAxis() has three ticks or more on a logarithmic axis, however short or long", () => {
  for (const most of [1.01, 1.5, 2, 4, 9, 70, 900, 1e5]) {
    for (const least of [0.03, 1, 42]) {
      const { ticks } = valueAxis([least, least * most], { label: "", log: true });
      assert(Array.isArray(ticks) && ticks.length >= 2, `${least} to ${least * most}: ${ticks}`);
    }
  }
});
