/**
 * The figures by which algorithms are compared, made alike of a run on the real node and on the
 * modelled.
 *
 * @module
 */
import { knownReaction, type LevelChange } from "../../arena/measures.ts";
import { quantile } from "../../simulation/statistics.ts";
import type { RunSeries } from "../../simulation/run_record.ts";
import { scoreRun } from "../../simulation/scores.ts";

/** One algorithm's figures. */
export interface Figures {
  /**
   * Burst begins until the quota is at least what the burst asks for: of those that found less. One
   * that never got it counts with its length. Absent when each found enough, and when half of them or
   * more never got it: a length is no reaction.
   */
  readonly reactionMsMedian?: number;
  readonly reactionMsP95?: number;
  /** All bursts; those that found enough; those that never got it. */
  readonly bursts: number;
  readonly burstsMet: number;
  readonly burstsMissed: number;
  /** Sum over pods. */
  readonly throttledMsPerS: number;
  readonly changesPerPodMinute: number;
  /** Of completed requests. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly completed: number;
  /** Mean of all limits together, and of what was used. */
  readonly coresAllocated: number;
  readonly coresUsed: number;
}

/** Sums up a run; `bursts` in the order of its pods. */
export function figuresOf(
  run: RunSeries,
  bursts: readonly (readonly LevelChange[])[],
): Figures {
  const scores = scoreRun(run);
  const found = run.pods.flatMap((pod, index) =>
    (bursts[index] ?? []).map((change) => knownReaction(pod, { change, stepS: run.stepS }))
  );
  const open = found.filter(({ reactionS }) => reactionS !== 0);
  const reactions = open.map(({ reactionS, lengthS }) => 1000 * (reactionS ?? lengthS));
  const missed = open.filter(({ reactionS }) => reactionS === undefined).length;
  return {
    ...(2 * missed >= reactions.length ? {} : {
      reactionMsMedian: Math.round(quantile(reactions, 0.5)),
      reactionMsP95: Math.round(quantile(reactions, 0.95)),
    }),
    bursts: found.length,
    burstsMet: found.length - open.length,
    burstsMissed: missed,
    throttledMsPerS: scores.throttledMsPerS,
    changesPerPodMinute: scores.changesPerPodMinute,
    p50Ms: scores.p50Ms,
    p99Ms: scores.p99Ms,
    completed: run.pods.reduce((sum, { latency }) => sum + latency.total, 0),
    coresAllocated: scores.coresAllocated,
    coresUsed: scores.coresUsed,
  };
}
