/**
 * Times one clearing of the market by number of bids, and measures how far it is from the exact
 * optimum: `deno task bench:solver`.
 *
 * @module
 */
import { Command } from "commander";
import { type Bid, clearMarket } from "../../../shared/market/solver.ts";
import { type Random, seededRandom } from "../../../shared/random.ts";
import { residual } from "../../../tests/fixtures/market/clearing_residual.ts";
import { quantile } from "../../simulation/statistics.ts";
import { benchFlags, columns } from "../bench.ts";

/** Bids of one clearing: alone, a few, a full node, and what no node holds. */
const COUNTS: readonly number[] = [1, 10, 110, 1000, 10_000];
/** Markets that take turns, so that no processor learns one of them by heart. */
const MARKETS = 16;
const BATCHES = 25;
/** A batch lasts a millisecond or more, far above the resolution of the clock. */
const BIDS_PER_BATCH = 50_000;

const { json } = benchFlags(
  new Command("bench:solver").description("Times the market's clearing, and measures its error."),
);

/** A node's containers, which want more than their floors and less than their ceilings allow. */
function congestedMarket(random: Random, count: number): readonly [bids: Bid[], capacity: number] {
  const between = (from: number, to: number): number => from * (to / from) ** random.next();
  const bids = Array.from({ length: count }, (): Bid => {
    const weight = between(10, 2000);
    const floor = Math.min(weight, 100);
    return { weight, floor, ceiling: 4 * weight + 10, demand: floor + between(5, 4000) };
  });
  const floors = bids.reduce((sum, { floor }) => sum + floor, 0);
  const needs = bids.reduce((sum, { demand, ceiling }) => sum + Math.min(demand, ceiling), 0);
  return [bids, floors + (0.05 + 0.9 * random.next()) * (needs - floors)];
}

const rows = COUNTS.map((count) => {
  const random = seededRandom(1);
  const markets = Array.from({ length: MARKETS }, () => congestedMarket(random, count));
  const rounds = Math.max(1, Math.ceil(BIDS_PER_BATCH / count / MARKETS));
  const times: number[] = [];
  // The first fifth warms up the compiler and is not counted.
  for (let batch = -BATCHES / 5; batch < BATCHES; batch++) {
    const start = performance.now();
    for (let round = 0; round < rounds; round++) {
      for (const [bids, capacity] of markets) clearMarket(bids, capacity);
    }
    if (batch >= 0) times.push((performance.now() - start) * 1000 / rounds / MARKETS);
  }
  const residuals = markets.map(([bids, capacity]) =>
    residual(bids, { capacity, clearing: clearMarket(bids, capacity) })
  );
  return { bids: count, medianUs: quantile(times, 0.5), residual: Math.max(...residuals) };
});
console.log(
  json ? JSON.stringify(rows) : columns([
    ["bids", "median, µs", "distance from the optimum"],
    ...rows.map((row) => [
      `${row.bids}`,
      row.medianUs.toFixed(2),
      row.residual.toExponential(1),
    ]),
  ]),
);
