import { pure } from "../../../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { syntheticRuns } from "../../../../tests/fixtures/lab/run_records.ts";
import { pricePlot } from "./price_plot.ts";

function plotted(price: readonly number[]): string {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return pricePlot({ ...made, price }).markup.replaceAll(/\s+/g, " ");
}

pure("pricePlot() counts infinite prices, not those before the first clearing", () => {
  const some = plotted([NaN, NaN, 0.1, Infinity, 0.2]);
  assert.match(some, / 1 step .*infinite/);
  assert.doesNotMatch(plotted([NaN, NaN, 0.1, 0.2]), /infinite/);
  assert.match(plotted([0, Infinity]), / 1 step .*infinite/);
});

pure("pricePlot() distinguishes an infinite price from none by its text", () => {
  assert.match(plotted([Infinity, Infinity]), /infinite throughout/);
  assert.match(plotted([NaN, Infinity]), /No finite price/);
  assert.match(plotted([]), /sets no price/);
});
