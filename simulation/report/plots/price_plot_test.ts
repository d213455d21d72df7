import assert from "node:assert/strict";
import { syntheticRuns } from "../../../tests/fixtures/run_records.ts";
import { pricePlot } from "./price_plot.ts";

function plotted(price: readonly number[]): string {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return pricePlot({ ...made, price }).markup.replaceAll(/\s+/g, " ");
}

Deno.test({
  name: "pricePlot() counts infinite prices, not those before the first clearing",
  permissions: "none",
  fn() {
    const some = plotted([NaN, NaN, 0.1, Infinity, 0.2]);
    assert.match(some, /1 step with an infinite price \(nothing is left for somebody without a fl/);
    assert.doesNotMatch(plotted([NaN, NaN, 0.1, 0.2]), /infinite/);
    assert.match(plotted([0, Infinity]), /1 step with an infinite price/);
  },
});

Deno.test({
  name: "pricePlot() does not promise that at price 0 everybody gets what they want",
  permissions: "none",
  fn() {
    assert.match(
      plotted([0, 0.1]),
      /At price 0 the estimated needs of all fit into the node \(pacing may still delay a raise\)/,
    );
  },
});

Deno.test({
  name: "pricePlot() tells in words an infinite price from none",
  permissions: "none",
  fn() {
    assert.match(plotted([Infinity, Infinity]), /infinite throughout: nothing was left for someb/);
    assert.match(plotted([NaN, Infinity]), /No finite price was recorded/);
    assert.match(plotted([]), /sets no price/);
  },
});
