/**
 * The finding as text, computed from the figures and true whichever way they come out.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { formatCores, formatCount, formatFigure } from "./figure.ts";

/**
 * One sentence about throttling in the first run against the second. Throws a
 * `RangeError` without any run.
 */
export function headline(runs: readonly RunRecord[]): string {
  const ours = runs[0];
  if (ours === undefined) {
    throw new RangeError("Cannot write a headline: runs is empty, expected at least one run");
  }
  const scale = `In ${formatCount(ours.minutes, "minute")}, ${
    formatCount(ours.pods.length, "pod")
  } on ${formatCores(ours.nodeCPU)} cores were throttled`;
  const got = formatFigure(ours.scores.throttledMsPerS);
  const reference = runs[1];
  if (reference === undefined) {
    return `${scale} ${got} ms/s; no other algorithm was run beside it.`;
  }
  const other = formatFigure(reference.scores.throttledMsPerS);
  const under = `with ${reference.algorithm}`;
  if (got === other) return `${scale} ${got} ms/s, as much as ${under}.`;
  return ours.scores.throttledMsPerS < reference.scores.throttledMsPerS
    ? `${scale} ${got} ms/s instead of ${other} ms/s ${under}.`
    : `${scale} ${got} ms/s, more than the ${other} ms/s ${under}.`;
}

/** One of the few figures beneath the headline. */
export interface KeyFigure {
  readonly name: string;
  /** With its unit. */
  readonly value: string;
  /** What it compares with. */
  readonly beside: string;
}

/** Throttling, tail latency, cost and reaction of the first run, each beside its reference. */
export function keyFigures(runs: readonly RunRecord[]): KeyFigure[] {
  const ours = runs[0];
  if (ours === undefined) return [];
  const theirs = runs[1];
  const beside = (value: (run: RunRecord) => number, unit: string): string =>
    theirs === undefined
      ? "no other algorithm to compare with"
      : `${formatFigure(value(theirs))} ${unit} with ${theirs.algorithm}`;
  const { scores } = ours;
  return [
    {
      name: "Throttled, all pods",
      value: `${formatFigure(scores.throttledMsPerS)} ms/s`,
      beside: beside((run) => run.scores.throttledMsPerS, "ms/s"),
    },
    {
      name: "P99 latency",
      value: `${formatFigure(scores.p99Ms)} ms`,
      beside: beside((run) => run.scores.p99Ms, "ms"),
    },
    {
      name: "Cores allocated, mean",
      value: formatFigure(scores.coresAllocated),
      beside: beside((run) => run.scores.coresAllocated, "cores"),
    },
    {
      name: "Burst to raised limit, median",
      value: scores.reactionMsMedian === undefined
        ? "none"
        : `${formatFigure(scores.reactionMsMedian)} ms`,
      beside: scores.bursts === 0
        ? "none needed: no burst exceeded a limit"
        : `${formatCount(scores.bursts, "burst")}, ${scores.burstsMissed} missed`,
    },
  ];
}
