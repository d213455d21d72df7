/**
 * How long one clearing takes.
 *
 * @module
 */
import { clearMarket, type Mode } from "../../../shared/market/solver.ts";
import { seededRandom } from "../../../shared/random.ts";
import { MODES, nodeMarket } from "./markets.ts";

/** Bids of one clearing: alone, a few, a full node, and what no node holds. */
const COUNTS: readonly number[] = [1, 10, 110, 1000, 10_000];

/** Markets that take turns, so that no processor learns one of them by heart. */
const MARKETS = 16;

/** A batch lasts a millisecond or more, far above the resolution of the clock. */
const BIDS_PER_BATCH = 50_000;

/** The figures of one number of bids in one mode. */
export interface SolverTime {
  readonly count: number;
  readonly mode: Mode;
  /** Nanoseconds per clearing: the median of the batches, and the least. */
  readonly medianNs: number;
  readonly leastNs: number;
}

/** Times all cells, `batches` times each, after a warm-up. */
export function measureTimes(options: { batches: number; seed: number }): SolverTime[] {
  return COUNTS.flatMap((count) => MODES.map((mode) => timeCell({ ...options, count, mode })));
}

function timeCell(
  cell: { count: number; mode: Mode; batches: number; seed: number },
): SolverTime {
  const { count, mode, batches, seed } = cell;
  const random = seededRandom(seed);
  const markets = Array.from({ length: MARKETS }, () => nodeMarket(random, { count, mode }));
  const rounds = Math.max(1, Math.ceil(BIDS_PER_BATCH / count / MARKETS));
  const times: number[] = [];
  // The first fifth warms up the compiler and is not counted.
  const warmUp = Math.ceil(batches / 5);
  for (let batch = -warmUp; batch < batches; batch++) {
    const start = performance.now();
    for (let round = 0; round < rounds; round++) {
      for (const { bids, capacity } of markets) clearMarket(bids, capacity);
    }
    const elapsedNs = (performance.now() - start) * 1e6;
    if (batch >= 0) times.push(elapsedNs / rounds / MARKETS);
  }
  times.sort((a, b) => a - b);
  const [leastNs = NaN] = times;
  return { count, mode, leastNs, medianNs: times[Math.floor(times.length / 2)] ?? NaN };
}
