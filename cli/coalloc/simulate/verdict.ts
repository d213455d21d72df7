/**
 * The finding of a replay as text, whatever the figures are. Pure.
 *
 * @module
 */
import {
  type AlgorithmOutcome,
  AS_IT_IS,
  bestSetting,
  COALLOCATOR,
  COALLOCATOR_TIGHT,
  isCoallocator,
  isSameEntry,
} from "../../../lab/arena/outcome.ts";
import { formatFigure } from "../../../lab/simulation/report/figure.ts";
import { algorithmLabel, P90 } from "./replay.ts";

/** Costs count as the same within this share. */
const SAME_COST = 0.01;

/**
 * Sentences: CoAllocator with `market.idleCPU: tight` beside the limit as it is; the cheapest other
 * algorithm that holds the SLO; CoAllocator with its defaults: their limits cost nothing while CPU is
 * free. Throws a RangeError when one of these was not played.
 */
export function verdict(
  outcomes: readonly AlgorithmOutcome[],
  { sloMs }: { readonly sloMs: number },
): string[] {
  const [shipped, ours, own] = [COALLOCATOR, COALLOCATOR_TIGHT, AS_IT_IS].map((entry) =>
    outcomes.find((one) => isSameEntry(one, entry))
  );
  if (shipped === undefined || ours === undefined || own === undefined) {
    throw new RangeError("Cannot compare: coallocator and the limit as it is were not both played");
  }
  const slo = `the SLO of ${formatFigure(sloMs)} ms`;
  return [
    `${costOf(ours, own)} ${latencyOf(ours, { own, slo })}`,
    bestOther(outcomes, { ours, own }),
    `With its defaults CoAllocator leaves the limit at its ceiling while CPU is free: P99 ${
      formatFigure(shipped.median.p99Ms)
    } ms.`,
  ];
}

function costOf(ours: AlgorithmOutcome, own: AlgorithmOutcome): string {
  const [mine, theirs] = [coresOf(ours), coresOf(own)];
  const subject = "CoAllocator with market.idleCPU: tight would have allocated";
  if (isSame(mine, theirs)) {
    return `${subject} ${formatFigure(mine)} cores, as many as your limit,`;
  }
  const share = Math.round(100 * Math.abs(mine / theirs - 1));
  return `${subject} ${formatFigure(mine)} cores on average instead of ${
    formatFigure(theirs)
  } (${share} % ${mine < theirs ? "less" : "more"})`;
}

function latencyOf(
  ours: AlgorithmOutcome,
  { own, slo }: { readonly own: AlgorithmOutcome; readonly slo: string },
): string {
  const [mine, theirs] = [formatFigure(ours.median.p99Ms), formatFigure(own.median.p99Ms)];
  if (ours.sloHeld && own.sloHeld) {
    return `and kept P99 at ${mine} ms (as it is: ${theirs} ms), within ${slo}.`;
  }
  if (ours.sloHeld) {
    return `and kept P99 at ${mine} ms, within ${slo}; as it is, P99 was ${theirs} ms.`;
  }
  return own.sloHeld
    ? `but let P99 rise to ${mine} ms, beyond ${slo}; your limit as it is kept it at ${theirs} ms.`
    : `with P99 at ${mine} ms instead of ${theirs} ms; neither holds ${slo}.`;
}

/** The cheapest of those that are not CoAllocator, and whether it is cheaper. */
function bestOther(
  outcomes: readonly AlgorithmOutcome[],
  { ours, own }: { readonly ours: AlgorithmOutcome; readonly own: AlgorithmOutcome },
): string {
  const best = bestSetting(outcomes.filter((one) => !isCoallocator(one) && one.sloHeld));
  if (best === undefined) return "No other algorithm in the table held the SLO.";
  const cores = coresOf(best);
  if (own.sloHeld && cores >= coresOf(own)) {
    return "No other algorithm in the table held the SLO with fewer cores than your limit as it is.";
  }
  const foresight = isSameEntry(best, P90) ? ", which knows the whole load beforehand," : "";
  const beside = !ours.sloHeld
    ? ""
    : isSame(cores, coresOf(ours))
    ? ", as many as CoAllocator"
    : cores < coresOf(ours)
    ? ", fewer than CoAllocator"
    : ", more than CoAllocator";
  return `Of the other algorithms "${
    algorithmLabel(best)
  }"${foresight} held the SLO with the fewest cores: ` +
    `${formatFigure(cores)}${beside}.`;
}

function coresOf({ median }: AlgorithmOutcome): number {
  return median.coresAllocated ?? NaN;
}

function isSame(one: number, other: number): boolean {
  return Math.abs(one - other) <= SAME_COST * Math.max(one, other);
}
