/**
 * A run's series → all figures by which the arena compares control algorithms.
 *
 * @module
 */
import { mean, quantile } from "../simulation/statistics.ts";
import {
  createLatencyHistogram,
  latencyQuantile,
  mergeLatencies,
} from "../simulation/node/latency_histogram.ts";
import type { PodSeries, RunScores, RunSeries } from "../simulation/run_record.ts";
import { type Burst, scoreRun } from "../simulation/scores.ts";
import {
  backlog,
  convergence,
  countReversals,
  drainTime,
  knownReaction,
  largestEnvy,
  type LevelChange,
  someAvg10,
} from "./measures.ts";

/** The figures of one run. Those of bursts and steps are absent where the scene has none. */
export interface ArenaScores extends RunScores {
  /** 1 − usage / limit, over all pods and the whole run. */
  readonly slack: number;
  /** CPU used / CPUs of the node. */
  readonly utilisation: number;
  /** Limit changes of all pods per minute: what the API server has to write. */
  readonly writesPerMinute: number;
  /** P99 latency of the victims' requests that ended during contention, ms. */
  readonly victimsP99Ms?: number;
  /** Changes of direction, per pod and 5 min. */
  readonly reversalsPer5Min: number;
  /** PSI `some avg10` of pods, %: mean over pods and time, and the largest. */
  readonly psiMean: number;
  readonly psiPeak: number;
  /** The largest of any pod towards any other, 0 to 1. */
  readonly envy: number;
  /** Seconds in which limits were below their floors, summed over pods. */
  readonly floorViolationS: number;
  /** Burst begins → its queue is drained, s; one that never was counts until the next burst. */
  readonly drainSMedian?: number;
  readonly drainSP95?: number;
  /** Step → limit within 10 % of its final value for good, s: the longest of the run's steps. */
  readonly convergeS?: number;
  /** Steps after which the limit did not come to rest; they count in `convergeS` with their length. */
  readonly stepsUnconverged?: number;
}

/** Changes of the load that are known for the scene's pods. */
export interface KnownLoad {
  /** Raises that reactions are measured from; without them, bursts are looked for. */
  readonly bursts?: readonly LevelChange[];
  /** Changes for good of the first pod's load, up and down, that convergence is measured from. */
  readonly steps?: readonly LevelChange[];
}

/** Millicores; entries are of single precision. */
const FLOOR_SLACK = 1e-3;

/** Scores a run. */
export function scoreArena(run: RunSeries, { bursts, steps }: KnownLoad = {}): ArenaScores {
  const { pods, stepS, nodeCPU, changes } = run;
  const base = scoreRun(run);
  const spans = pods.length * (pods[0]?.limit.length ?? 0) * stepS / 300;
  const pressures = pods.map(({ waited }) => someAvg10(waited, stepS));
  const first = pods[0];
  return {
    ...base,
    slack: base.coresAllocated === 0 ? 0 : 1 - base.coresUsed / base.coresAllocated,
    utilisation: base.coresUsed * 1000 / nodeCPU,
    writesPerMinute: base.changesPerPodMinute * pods.length,
    ...scoreVictims(pods),
    reversalsPer5Min: spans === 0 ? 0 : countReversals(changes) / spans,
    psiMean: mean(Float64Array.from(pressures, mean)),
    psiPeak: pressures.reduce((most, values) => values.reduce((a, b) => Math.max(a, b), most), 0),
    envy: largestEnvy(pods, stepS),
    floorViolationS: pods.reduce((sum, pod) => sum + stepsBelowFloor(pod), 0) * stepS,
    ...(first === undefined || bursts === undefined ? {} : scoreKnown(pods, { bursts, stepS })),
    ...(first === undefined || steps === undefined ? {} : scoreSteps(first, { steps, stepS })),
  };
}

function stepsBelowFloor({ limit, floor }: PodSeries): number {
  return limit.reduce((count, value) => value < floor - FLOOR_SLACK ? count + 1 : count, 0);
}

function scoreVictims(pods: readonly PodSeries[]): Pick<ArenaScores, "victimsP99Ms"> {
  const contended = pods.flatMap(({ contendedLatency }) => contendedLatency ?? []);
  if (contended.length === 0) return {};
  const latency = createLatencyHistogram();
  for (const one of contended) mergeLatencies(latency, one);
  return { victimsP99Ms: latencyQuantile(latency, 0.99) };
}

/** A missed burst enters with its length; where all were missed, too: algorithms are compared by it. */
function scoreKnown(
  pods: readonly PodSeries[],
  { bursts, stepS }: { readonly bursts: readonly LevelChange[]; readonly stepS: number },
): Partial<ArenaScores> {
  if (bursts.length === 0) return {};
  const scored = pods.flatMap((pod) => {
    const changes = bursts.filter(({ pod: name = pods[0]?.name }) => name === pod.name);
    return changes.length === 0 ? [] : [burstsOfPod(pod, { changes, stepS })];
  });
  const found = scored.flatMap((one) => one.found);
  const reactions = found.map(({ reactionS, lengthS }) => 1000 * (reactionS ?? lengthS));
  const drains = scored.flatMap((one) => one.drains);
  return {
    bursts: found.length,
    burstsMissed: found.filter(({ reactionS }) => reactionS === undefined).length,
    reactionMsMedian: Math.round(quantile(reactions, 0.5)),
    reactionMsP95: Math.round(quantile(reactions, 0.95)),
    drainSMedian: quantile(drains, 0.5),
    drainSP95: quantile(drains, 0.95),
  };
}

function burstsOfPod(
  pod: PodSeries,
  { changes, stepS }: { readonly changes: readonly LevelChange[]; readonly stepS: number },
): { readonly found: readonly Burst[]; readonly drains: readonly number[] } {
  const open = backlog(pod, stepS);
  const endS = open.length * stepS;
  return {
    found: changes.map((change) => knownReaction(pod, { change, stepS })),
    drains: changes.map((change, index) => {
      const untilS = changes[index + 1]?.atS ?? endS;
      return drainTime(open, { change, stepS, untilS }) ?? untilS - change.atS;
    }),
  };
}

function scoreSteps(
  pod: PodSeries,
  { steps, stepS }: { readonly steps: readonly LevelChange[]; readonly stepS: number },
): Partial<ArenaScores> {
  const times = steps.map((change) => ({
    took: convergence(pod, { change, stepS }),
    length: change.untilS - change.atS,
  }));
  return {
    convergeS: times.reduce((most, { took, length }) => Math.max(most, took ?? length), 0),
    stepsUnconverged: times.filter(({ took }) => took === undefined).length,
  };
}
