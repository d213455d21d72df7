/**
 * The figures of every algorithm as columns, for tables in the page and in the terminal.
 *
 * @module
 */
import { formatFigure, NO_FIGURE } from "../simulation/report/figure.ts";
import type { AlgorithmOutcome, Figures } from "./outcome.ts";
import type { StageResult } from "./stages.ts";

/** A figure of every algorithm. */
export interface OutcomeColumn {
  readonly score: keyof Figures;
  /** Two lines; the first may be empty. */
  readonly head: readonly [string, string];
  readonly text: (figures: Figures) => string;
}

const COLUMNS: readonly OutcomeColumn[] = [
  figure("coresAllocated", ["", "cores"]),
  { score: "slack", head: ["", "slack"], text: ({ slack }) => percent(slack) },
  figure("p50Ms", ["P50", "ms"]),
  figure("p99Ms", ["P99", "ms"]),
  figure("p999Ms", ["P99.9", "ms"]),
  figure("throttledMsPerS", ["throttled", "ms/s"]),
  figure("changesPerPodMinute", ["changes", "per pod min"]),
  figure("writesPerMinute", ["writes", "per min"]),
  figure("victimsP99Ms", ["victims'", "P99, ms"]),
  figure("reactionMsMedian", ["reaction", "median, ms"]),
  figure("reactionMsP95", ["reaction", "P95, ms"]),
  figure("drainSMedian", ["drained", "median, s"]),
  figure("convergeS", ["converged", "worst, s"]),
  { score: "jain", head: ["", "Jain"], text: ({ jain }) => jain?.toFixed(4) ?? NO_FIGURE },
  { score: "envy", head: ["", "envy"], text: ({ envy }) => percent(envy) },
];
/** On a node with one pod they say the same of every algorithm. */
const SHARED: readonly (keyof Figures)[] = ["jain", "envy"];

/** Those that distinguish algorithms: scenes without bursts, for instance, have no reaction. */
export function outcomeColumns(
  outcomes: readonly AlgorithmOutcome[],
  { kind }: Pick<StageResult, "kind">,
): OutcomeColumn[] {
  return COLUMNS.filter(({ score }) =>
    (kind === "shared node" || kind === "services" || !SHARED.includes(score)) &&
    outcomes.some(({ median }) => median[score] !== undefined)
  );
}

function figure(score: keyof Figures, head: OutcomeColumn["head"]): OutcomeColumn {
  return { score, head, text: (figures) => formatFigure(figures[score]) };
}

function percent(share: number | undefined): string {
  // Rounded first: toFixed() keeps the sign of a share that rounds to 0.
  return share === undefined ? NO_FIGURE : `${(Math.round(1000 * share) / 10).toFixed(1)} %`;
}
