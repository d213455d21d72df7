/**
 * Plays one design on a few traces, on known bursts and on a crowded node.
 *
 * @module
 */
import { scoreArena } from "../../simulation/arena/arena_scores.ts";
import { burstScene } from "../../simulation/arena/burst_scene.ts";
import { playOracle } from "../../simulation/arena/play_oracle.ts";
import { traceScene } from "../../simulation/arena/trace_scene.ts";
import { seededRandom } from "../../shared/random.ts";
import { playFixed } from "../../simulation/play_rival.ts";
import { playMarket } from "../../simulation/play_market.ts";
import { createScene, type Scene } from "../../simulation/scene.ts";
import { scoreRun } from "../../simulation/scores.ts";
import type { Trace } from "../../simulation/trace.ts";
import { readShippedTrace } from "../../simulation/trace_files.ts";
import { busiestWindow, withBursts } from "../../simulation/trace_shape.ts";
import type { Variant } from "./variants.ts";

/** A trace's scene, and what its algorithms are measured by. */
export interface JudgedTrace {
  readonly name: string;
  readonly scene: Scene;
  /** P99 without any limit and one CFS period, ms. */
  readonly sloMs: number;
  /** Mean cores of the oracle, which may change the limit every two minutes. */
  readonly oracleCores: number;
}

/** The figures of a design. */
export interface VariantRow {
  readonly name: string;
  /** Cores / the oracle's: median over the traces, and the largest. */
  readonly costMedian: number;
  readonly costMost: number;
  /** Traces on which P99 kept to the SLO. */
  readonly held: number;
  /** Mean over the traces. */
  readonly changesPerPodMinute: number;
  readonly throttledMsPerS: number;
  /** Of bursts of four times a load of one core; ms. Absent when no limit got there. */
  readonly reactionMsMedian?: number;
  readonly reactionMsP95?: number;
  /** On the crowded node. */
  readonly crowd: {
    readonly p99Ms: number;
    readonly throttledMsPerS: number;
    readonly changesPerPodMinute: number;
    readonly reactionMsMedian?: number;
  };
}

const TRACES: readonly string[] = ["diurnal", "bursty", "crane0", "crane5"];
const P95_CORES = 2;
const SLO_ABOVE_MS = 100;
const ORACLE_CHANGES = 0.5;
const CROWD = { pods: 30, minutes: 10 };
const BURST_MINUTES = 30;
/** One pod in so many of the crowd has bursts, four times its load, about as often as this, s. */
const BURSTS_EVERY = 5;
const BURST_GAP_S = 240;

/** The traces that designs are judged on. */
export function judgedTraces(
  { seed, minutes }: { seed: number; minutes: number },
): Promise<JudgedTrace[]> {
  return Promise.all(TRACES.map(async (name) => {
    const trace = busiestWindow(await readShippedTrace(name), minutes * 60);
    const scale = trace.unit === "cores" ? { p95Cores: P95_CORES } : {};
    const scene = traceScene(trace, { seed, minutes, ...scale });
    const free = scoreRun(playFixed(scene, { limits: [scene.cores * 1000] }));
    const sloMs = free.p99Ms + SLO_ABOVE_MS;
    const oracle = playOracle(scene, { sloMs, changesPerPodMinute: ORACLE_CHANGES });
    if (oracle === undefined) throw new Error(`Cannot judge by ${name}: it has several pods`);
    return { name, scene, sloMs, oracleCores: scoreRun(oracle).coresAllocated };
  }));
}

/** Thirty small pods on eight cores that want more headroom than there is; some have bursts. */
export async function crowdedScene(seed: number): Promise<Scene> {
  const random = seededRandom(seed);
  const traces = await Promise.all(
    TRACES.map(async (name) => busiestWindow(await readShippedTrace(name), 7200)),
  );
  const bursty = traces.map((trace) => withBursts(trace, { random, everyS: BURST_GAP_S }));
  const dealt = Array.from({ length: CROWD.pods }, (_, index) => {
    const from = index % BURSTS_EVERY === 0 ? bursty : traces;
    return from[index % from.length] as Trace;
  });
  return createScene({ seed, traces: dealt, ...CROWD });
}

/** Plays a design everywhere. */
export async function playVariant(
  { name, agent }: Variant,
  { traces, crowd, seed }: {
    readonly traces: readonly JudgedTrace[];
    readonly crowd: Scene;
    readonly seed: number;
  },
): Promise<VariantRow> {
  const settings = { agent: { idleCPU: "tight" as const, ...agent } };
  const costs: number[] = [];
  const sums = { held: 0, changes: 0, throttled: 0 };
  for (const { scene, sloMs, oracleCores } of traces) {
    const scores = scoreRun(await playMarket(scene, settings));
    costs.push(scores.coresAllocated / oracleCores);
    sums.held += scores.p99Ms <= sloMs ? 1 : 0;
    sums.changes += scores.changesPerPodMinute;
    sums.throttled += scores.throttledMsPerS;
  }
  const { scene, ...known } = burstScene(1, { seed, minutes: BURST_MINUTES });
  const bursts = scoreArena(await playMarket(scene, settings), known);
  const crowded = scoreRun(await playMarket(crowd, settings));
  costs.sort((a, b) => a - b);
  const middle = ((costs[(costs.length - 1) >> 1] ?? 0) + (costs[costs.length >> 1] ?? 0)) / 2;
  const { reactionMsMedian, reactionMsP95 } = bursts;
  return {
    name,
    costMedian: middle,
    costMost: costs.at(-1) ?? 0,
    held: sums.held,
    changesPerPodMinute: sums.changes / traces.length,
    throttledMsPerS: sums.throttled / traces.length,
    ...(reactionMsMedian === undefined ? {} : { reactionMsMedian }),
    ...(reactionMsP95 === undefined ? {} : { reactionMsP95 }),
    crowd: {
      p99Ms: crowded.p99Ms,
      throttledMsPerS: crowded.throttledMsPerS,
      changesPerPodMinute: crowded.changesPerPodMinute,
      ...(crowded.reactionMsMedian === undefined
        ? {}
        : { reactionMsMedian: crowded.reactionMsMedian }),
    },
  };
}
