/**
 * A run's series → all figures by which the arena compares control algorithms: its scores, and
 * convergence, drain time, envy, reversals, pressure, reaction.
 *
 * @module
 */
import { mean, quantile } from "../simulation/statistics.ts";
import { latencyQuantile, mergedLatencies } from "../simulation/node/latency_histogram.ts";
import type {
  LimitChangeRecord,
  PodSeries,
  RunScores,
  RunSeries,
} from "../simulation/run_record.ts";
import { type Burst, scoreRun } from "../simulation/scores.ts";

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
  /** Clients give up so long after a request, s; 0: never. @default {0} */
  readonly giveUp?: number;
  /** Changes for good of the first pod's load, up and down, that convergence is measured from. */
  readonly steps?: readonly LevelChange[];
}

/** Millicores; entries are of single precision. */
const FLOOR_SLACK = 1e-3;

/** Scores a run. */
export function scoreArena(
  run: RunSeries,
  { bursts, steps, giveUp = 0 }: KnownLoad = {},
): ArenaScores {
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
    ...(first === undefined || bursts === undefined
      ? {}
      : scoreKnown(pods, { bursts, stepS, giveUp })),
    ...(first === undefined || steps === undefined ? {} : scoreSteps(first, { steps, stepS })),
  };
}

function stepsBelowFloor({ limit, floor }: PodSeries): number {
  return limit.reduce((count, value) => value < floor - FLOOR_SLACK ? count + 1 : count, 0);
}

function scoreVictims(pods: readonly PodSeries[]): Pick<ArenaScores, "victimsP99Ms"> {
  const contended = pods.flatMap(({ contendedLatency }) => contendedLatency ?? []);
  return contended.length === 0
    ? {}
    : { victimsP99Ms: latencyQuantile(mergedLatencies(contended), 0.99) };
}

/** A missed burst enters with its length; where all were missed, too: algorithms are compared by it. */
function scoreKnown(
  pods: readonly PodSeries[],
  { bursts, ...options }: { readonly bursts: readonly LevelChange[] } & BacklogOptions,
): Partial<ArenaScores> {
  if (bursts.length === 0) return {};
  const scored = pods.flatMap((pod) => {
    const changes = bursts.filter(({ pod: name = pods[0]?.name }) => name === pod.name);
    return changes.length === 0 ? [] : [burstsOfPod(pod, { changes, ...options })];
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
  { changes, ...options }: { readonly changes: readonly LevelChange[] } & BacklogOptions,
): { readonly found: readonly Burst[]; readonly drains: readonly number[] } {
  const { stepS } = options;
  const open = backlog(pod, options);
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

/** The final value is the median of the limit over this last share of the level. */
const LAST_SHARE = 0.25;
/** How far from the final value a limit may be that has converged. */
const WITHIN = 0.1;

/**
 * Seconds from the step until the limit came within 10 % of its final value to stay there as long as
 * the level held; 0 when it always was. Undefined when it left once more in the last quarter of that
 * time, the median of which is the final value: it has not converged. An algorithm with a limit that
 * follows the noise of the load within 10 % has converged; one that swings wider has not.
 */
export function convergence(
  { limit }: Pick<PodSeries, "limit">,
  { change, stepS }: { readonly change: LevelChange; readonly stepS: number },
): number | undefined {
  const begin = Math.round(change.atS / stepS);
  const end = Math.min(limit.length, Math.round(change.untilS / stepS));
  const settledBy = end - Math.max(1, Math.round((end - begin) * LAST_SHARE));
  const final = quantile(limit.subarray(settledBy, end), 0.5);
  let step = end;
  while (step > begin && Math.abs((limit[step - 1] ?? 0) - final) <= WITHIN * final) step--;
  if (step > settledBy) return undefined;
  return step === begin ? 0 : (step + 1) * stepS - change.atS;
}

/** The backlog before a burst is looked at for this long. */
const BEFORE_S = 10;
/** Work of one CFS period waits under any limit that is not far too high. */
const PERIOD_S = 0.1;

/** How a backlog is computed. */
export interface BacklogOptions {
  /** Seconds per entry of the series. */
  readonly stepS: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
}

/**
 * Work that has come and is not done, in ms of CPU, at the end of each step: what came less what was
 * used, and no more than came in the last `giveUp` seconds.
 */
export function backlog(
  { demand, usage }: Pick<PodSeries, "demand" | "usage">,
  { stepS, giveUp }: BacklogOptions,
): Float64Array {
  const open = new Float64Array(demand.length);
  const kept = giveUp === 0 ? Infinity : Math.round(giveUp / stepS);
  let sum = 0;
  let recent = 0;
  for (let step = 0; step < demand.length; step++) {
    // Millicores are ms of CPU per s.
    const came = (demand[step] ?? 0) * stepS;
    recent += came - (demand[step - kept] ?? 0) * stepS;
    sum = Math.min(sum + came - (usage[step] ?? 0) * stepS, recent);
    open[step] = sum;
  }
  return open;
}

/**
 * Seconds from the beginning of a burst until its queue is drained: until, after the largest backlog
 * while it lasted, no more work is open than the burst brings in a CFS period, or than was open at
 * most in the 10 s before. 0 when it never was more; undefined when that was not so before `untilS`
 * of virtual time, the next burst for instance.
 */
export function drainTime(
  open: Float64Array,
  options: {
    readonly change: LevelChange;
    readonly stepS: number;
    readonly untilS: number;
  },
): number | undefined {
  const { change, stepS, untilS } = options;
  const stepAt = (seconds: number) => Math.min(open.length, Math.round(seconds / stepS));
  const begin = stepAt(change.atS);
  const before = open.subarray(stepAt(Math.max(0, change.atS - BEFORE_S)), begin);
  const usual = Math.max(change.to * 1000 * PERIOD_S, before.reduce((a, b) => Math.max(a, b), 0));
  let peak = begin;
  for (let step = begin; step < stepAt(change.untilS); step++) {
    if ((open[step] ?? 0) > (open[peak] ?? 0)) peak = step;
  }
  if ((open[peak] ?? 0) <= usual) return 0;
  for (let step = peak; step < stepAt(untilS); step++) {
    if ((open[step] ?? 0) <= usual) return (step + 1) * stepS - change.atS;
  }
  return undefined;
}

const PRESSURE_WINDOW_S = 60;

/** The series of a pod from which envy is computed. */
export type EnvyInput = Pick<PodSeries, "usage" | "demand" | "weight">;

/**
 * The largest envy of any pod i towards any pod j, 0 to 1: the mean, over the whole minutes in which
 * i wanted CPU, of the share of that which i did not get but would have got from j's CPU time,
 * taken at their weights: (min(wanted_i, got_j × weight_i / weight_j) − got_i) / wanted_i, at least
 * 0. Weighted envy-freeness (Foley 1967; with weights Robertson and Webb, 1998). Ceilings are not
 * looked at: a pod may envy what it may not have. A run of under a minute is one window.
 */
export function largestEnvy(pods: readonly EnvyInput[], stepS: number): number {
  const steps = pods[0]?.demand.length ?? 0;
  const size = Math.max(1, Math.min(Math.round(PRESSURE_WINDOW_S / stepS), steps));
  const wanted = pods.map(({ demand }) => sums(demand, size));
  const got = pods.map(({ usage }) => sums(usage, size));
  let largest = 0;
  pods.forEach((one, i) => {
    pods.forEach((other, j) => {
      if (i === j) return;
      let envy = 0;
      let windows = 0;
      wanted[i]?.forEach((want, window) => {
        if (want <= 0) return;
        windows++;
        const theirs = (got[j]?.[window] ?? 0) * one.weight / other.weight;
        const mine = got[i]?.[window] ?? 0;
        envy += Math.max(0, Math.min(want, theirs) - mine) / want;
      });
      if (windows > 0) largest = Math.max(largest, envy / windows);
    });
  });
  return largest;
}

/** Sums over whole windows. */
function sums(values: Float32Array, size: number): Float64Array {
  return Float64Array.from(
    { length: Math.floor(values.length / size) },
    (_, window) =>
      values.subarray(window * size, (window + 1) * size).reduce((sum, value) => sum + value, 0),
  );
}

/** Reversals of direction, over all pods; `changes` are in time. */
export function countReversals(
  changes: readonly Pick<LimitChangeRecord, "pod" | "from" | "to">[],
): number {
  const directions = new Map<string, number>();
  let reversals = 0;
  for (const { pod, from, to } of changes) {
    const direction = Math.sign(to - from);
    if (direction === 0) continue;
    if ((directions.get(pod) ?? direction) !== direction) reversals++;
    directions.set(pod, direction);
  }
  return reversals;
}

/** The kernel updates its averages this often (`PSI_FREQ`, kernel/sched/psi.c). */
const UPDATE_S = 2;
const REACTION_WINDOW_S = 10;

/**
 * The values of `some avg10`, %, one per 2 s, from 0 on: avg ← avg × e^(−2/10) + share × (1 − e^(−2/10))
 * (`calc_avgs`, kernel/sched/psi.c). `waited` holds ms per s in which some thread waited, one entry
 * per `stepS`; a rest of less than 2 s is left out. Worked: always waiting gives 18.1, 33.0, 45.1 %.
 */
export function someAvg10(waited: Float32Array, stepS: number): Float64Array {
  const steps = Math.round(UPDATE_S / stepS);
  const keep = Math.exp(-UPDATE_S / REACTION_WINDOW_S);
  const averages = new Float64Array(Math.floor(waited.length / steps));
  let average = 0;
  for (let update = 0; update < averages.length; update++) {
    let sum = 0;
    for (let step = update * steps; step < (update + 1) * steps; step++) sum += waited[step] ?? 0;
    average = average * keep + sum / steps / 10 * (1 - keep);
    averages[update] = average;
  }
  return averages;
}

/** Seconds at a burst's beginning with the mean that it asks for, as in `scores.ts`. */
const WANTED_S = 2;
/** Moments closer than this share of a step are one. */
const SLACK = 1e-6;

/**
 * The burst that a raise of the load is, seen from the pod: what it asks for is the mean demand of
 * its first 2 s, or the ceiling if that is lower. The reaction is 0 where the limit was there before
 * it began, and undefined where it never was while the burst lasted.
 */
export function knownReaction(
  { demand, limit, ceiling }: Pick<PodSeries, "demand" | "limit" | "ceiling">,
  { change, stepS }: { readonly change: LevelChange; readonly stepS: number },
): Burst {
  const { atS, untilS } = change;
  // Entry k stands for the end of its step, (k + 1) x stepS.
  const first = Math.ceil(atS / stepS - SLACK);
  const end = Math.min(limit.length, Math.round(untilS / stepS));
  const wanted = Math.min(
    ceiling,
    mean(demand.subarray(first, Math.min(end, first + Math.round(WANTED_S / stepS)))),
  );
  let reached = Math.max(0, first - 1);
  while (reached < end && (limit[reached] ?? 0) < wanted) reached++;
  return {
    begin: Math.max(0, first - 1),
    wanted,
    reactionS: reached < end ? Math.max(0, (reached + 1) * stepS - atS) : undefined,
    lengthS: untilS - atS,
  };
}

/** A load that goes from one level to another at once. */
export interface LevelChange {
  /** When, s of virtual time, and when the load changes again or the run ends. */
  readonly atS: number;
  readonly untilS: number;
  /** Expected demand before and after, CPUs. */
  readonly from: number;
  readonly to: number;
  /** Name of the pod that has the load; absent: the scene's first pod. */
  readonly pod?: string;
}

/**
 * The changes of a load that is constant within steps; `values` in CPUs, one per `stepS` seconds.
 * Worked: 1, 1, 4, 1 at 1 s change at 2 s (1 to 4, until 3 s) and at 3 s (4 to 1, until 4 s).
 */
export function levelChanges(values: ArrayLike<number>, stepS: number): LevelChange[] {
  const starts: number[] = [];
  for (let step = 1; step < values.length; step++) {
    if (values[step] !== values[step - 1]) starts.push(step);
  }
  return starts.map((step, index) => ({
    atS: step * stepS,
    untilS: (starts[index + 1] ?? values.length) * stepS,
    from: values[step - 1] ?? 0,
    to: values[step] ?? 0,
  }));
}
