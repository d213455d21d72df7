/**
 * The measures of a run in the order in which every table shows them.
 *
 * @module
 */
import type { RunRecord, RunScores } from "../run_record.ts";
import { failedOrLate } from "../scores.ts";
import { formatCores, formatCount, formatFigure, NO_FIGURE } from "./figure.ts";

/** One measure: its names, its text for a run, and the number by which runs are ranked. */
export interface ScoreMeasure {
  readonly name: string;
  /** Name and unit in short, for the terminal. */
  readonly label: string;
  readonly unit: string;
  /** An explanation for readers that do not know it. */
  readonly meaning: string;
  readonly text: (run: RunRecord) => string;
  /** The lower, the better; absent where no direction is better in itself. */
  readonly cost?: (run: RunRecord) => number;
}

function reaction(run: RunRecord): string {
  const { bursts, reactionMsMedian, reactionMsP95 } = run.scores;
  if (bursts === 0) return "not needed";
  if (reactionMsMedian === undefined) return NO_FIGURE;
  return `${formatFigure(reactionMsMedian)} / ${formatFigure(reactionMsP95)}`;
}

type Figure = {
  [K in keyof RunScores]-?: RunScores[K] extends number ? K : never;
}[keyof RunScores];

/** A measure that is one figure of the scores; the lower, the better. */
function figure(
  key: Figure,
  measure: Pick<ScoreMeasure, "name" | "label" | "unit" | "meaning">,
): ScoreMeasure & Required<Pick<ScoreMeasure, "cost">> {
  const cost = ({ scores }: RunRecord): number => scores[key];
  return { ...measure, text: (run) => formatFigure(cost(run)), cost };
}

/** All measures, throttling first. */
export const SCORE_MEASURES: readonly ScoreMeasure[] = [
  figure("throttledMsPerS", {
    name: "Throttled",
    label: "throttled ms/s",
    unit: "ms/s",
    meaning:
      "time in which a thread could have run but a limit held it back, summed over all threads",
  }),
  figure("p50Ms", {
    name: "P50 latency",
    label: "P50 ms",
    unit: "ms",
    meaning: "half of all requests are answered within",
  }),
  figure("p99Ms", {
    name: "P99 latency",
    label: "P99 ms",
    unit: "ms",
    meaning: "99 of 100 requests are answered within",
  }),
  figure("p999Ms", {
    name: "P99.9 latency",
    label: "P99.9 ms",
    unit: "ms",
    meaning: "999 of 1000 requests are answered within",
  }),
  {
    name: "Requests failed or late",
    label: "failed or late, %",
    unit: "% of requests",
    meaning: "no answer before the client gave up, or one that took more than a second",
    text: ({ scores }) => `${formatFigure(100 * failedOrLate(scores))}`,
    cost: ({ scores }) => failedOrLate(scores),
  },
  figure("coresAllocated", {
    name: "CPU allocated",
    label: "allocated cores",
    unit: "cores",
    meaning: "mean over time of the sum of all limits",
  }),
  {
    name: "CPU used",
    label: "used cores",
    unit: "cores",
    meaning: "mean over time of the CPU that all pods consumed",
    text: (run) => formatFigure(run.scores.coresUsed),
  },
  {
    name: "Limit changes",
    label: "changes /pod/min",
    unit: "per pod and minute",
    meaning: "how often a limit was written; a static limit never is",
    text: (run) => formatFigure(run.scores.changesPerPodMinute),
  },
  {
    name: "Reaction to bursts, median / P95",
    label: "reaction p50/p95 ms",
    unit: "ms",
    meaning:
      "from the start of a burst until the limit is at least the demand; a burst counts for an " +
      "algorithm only if its demand exceeds that algorithm's limit, and a missed one enters median and P95 " +
      "with its own length",
    text: reaction,
    cost: (run) => run.scores.reactionMsMedian ?? Infinity,
  },
  {
    name: "Bursts missed",
    label: "missed bursts",
    unit: "of all",
    meaning: "bursts with a demand that the limit never reached while they lasted",
    text: (run) => `${run.scores.burstsMissed} of ${run.scores.bursts}`,
    cost: (run) => run.scores.burstsMissed,
  },
  {
    name: "Jain's index",
    label: "Jain's index",
    unit: "1/n to 1",
    meaning: "how evenly CPU got / CPU wanted is spread over the pods; 1 is perfectly even",
    text: (run) => Number.isFinite(run.scores.jain) ? run.scores.jain.toFixed(4) : NO_FIGURE,
    cost: (run) => 1 - run.scores.jain,
  },
  {
    name: "Peak committed / capacity",
    label: "peak/cap. cores",
    unit: "cores",
    meaning: "largest sum of limits above their floors (else floor or demand), against what the " +
      "node may share",
    text: (run) =>
      `${formatFigure(run.scores.peakCommitted)} / ${formatFigure(run.capacity / 1000)}`,
  },
];

/**
 * Whether a run has the best text of a measure among all runs. None is best where all are
 * equal, where no direction is better, or where the run has no figure.
 */
export function isBest(
  measure: ScoreMeasure,
  run: RunRecord,
  { runs }: { readonly runs: readonly RunRecord[] },
): boolean {
  const { cost } = measure;
  if (cost === undefined) return false;
  const lowest = Math.min(...runs.map(cost).filter((value) => !Number.isNaN(value)));
  const best = runs.find((other) => cost(other) === lowest);
  if (best === undefined || !Number.isFinite(lowest)) return false;
  const bestText = measure.text(best);
  return measure.text(run) === bestText &&
    runs.some((other) => measure.text(other) !== bestText);
}

/** The scene in short: `30 minutes, 20 pods on 8 cores, seed 1`. */
export function describeScale(run: RunRecord): string {
  const pods = formatCount(run.pods.length, "pod");
  return `${formatCount(run.minutes, "minute")}, ${pods} on ${
    formatCores(run.nodeCPU)
  } cores, seed ${run.seed}`;
}
