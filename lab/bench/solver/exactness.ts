/**
 * How far clearings of random markets are from the optimum.
 *
 * @module
 */
import { clearMarket, type Mode } from "../../../shared/market/solver.ts";
import { residual } from "../../../tests/fixtures/market/clearing_residual.ts";
import { seededRandom } from "../../../shared/random.ts";
import { MODES, nodeMarket, wideMarket } from "./markets.ts";

/** Most bids in a market with an exactness that is measured. */
const MOST_BIDS = 200;

/** The largest residual of many clearings in one mode. */
export interface SolverResidual {
  readonly mode: Mode;
  readonly clearings: number;
  /** A fraction; 1e-9 is what the design allows. */
  readonly largest: number;
}

/** Clears `clearings` markets a mode, half of them a node's and half with values of any size. */
export function measureResiduals(
  { clearings, seed }: { clearings: number; seed: number },
): SolverResidual[] {
  return MODES.map((mode) => {
    const random = seededRandom(seed);
    let largest = 0;
    for (let n = 0; n < clearings; n++) {
      const count = 1 + Math.floor(MOST_BIDS * random.next());
      const market = (n % 2 === 0 ? nodeMarket : wideMarket)(random, { count, mode });
      const { bids, capacity } = market;
      const clearing = clearMarket(bids, capacity);
      largest = Math.max(largest, residual(bids, { capacity, clearing }));
    }
    return { mode, clearings, largest };
  });
}
