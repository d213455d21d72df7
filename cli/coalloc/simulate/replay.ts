/**
 * Plays a history under every algorithm, seed by seed.
 *
 * @module
 */
import { type ArenaScores, scoreArena } from "../../../lab/arena/arena_scores.ts";
import {
  type AlgorithmOutcome,
  algorithmOutcome,
  ENTRIES,
  type Entry,
  isSameEntry,
  sloAbove,
} from "../../../lab/arena/outcome.ts";
import { playEntry } from "../../../lab/arena/contest.ts";
import { shareRequests } from "../../../lab/arena/shared_node_scenes.ts";
import { traceScene, type TraceSceneOptions } from "../../../lab/arena/trace_scene.ts";
import { assembleRecord } from "../../../lab/simulation/recorder.ts";
import { expectedDemand } from "../../../lab/simulation/workload.ts";
import { quantile } from "../../../lab/simulation/statistics.ts";
import { formatCount, formatFigure } from "../../../lab/simulation/report/figure.ts";
import type { RunRecord, RunSeries } from "../../../lab/simulation/run_record.ts";
import { type Scene, withGiveUp } from "../../../lab/simulation/scene.ts";
import type { Trace } from "../../../lab/simulation/trace.ts";
import { type CoallocWorld, CommandProblem } from "../ports.ts";
import {
  allRivals,
  LIMIT_FACTORS,
  limitOfP90,
  requestTimes,
} from "../../../lab/simulation/rivals/all_rivals.ts";

/** Options of a replay. */
export interface ReplayOptions extends Omit<TraceSceneOptions, "seed" | "minutes"> {
  readonly costMs: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /** Seeds 1 to this. */
  readonly seeds: number;
  /** The SLO of P99 latency, ms. @default from P99 without a limit, by {@linkcode sloAbove} */
  readonly sloMs?: number;
  /** Receives the share that is done, 0 to 1. */
  readonly onProgress: (share: number) => void;
  readonly world: Pick<CoallocWorld, "clock" | "signal" | "runBlocking">;
}

/** Results of a replay. */
export interface Replay {
  /** The scene of the first seed; its service is the same for all. */
  readonly scene: Scene;
  readonly sloMs: number;
  /** Median P99 without any limit, ms; absent when the SLO was given. */
  readonly freeP99Ms?: number;
  readonly outcomes: readonly AlgorithmOutcome[];
  /** The runs of the first seed, in the order of the outcomes. */
  readonly runs: readonly RunRecord[];
}

/** Most requests of one run: each takes about a microsecond under each algorithm, and 16 bytes. */
const MAX_REQUESTS = 2e7;

/** Ends the replay: the user has interrupted it. */
const INTERRUPTED = Symbol("interrupted");

/**
 * Replays the trace; undefined when the user ends it. Throws a RangeError without a minute of load,
 * and a CommandProblem for more load than can be played.
 */
export async function replay(trace: Trace, options: ReplayOptions): Promise<Replay | undefined> {
  const { seeds, sloMs, giveUp, onProgress, world, ...service } = options;
  const sceneOf = (seed: number): Scene =>
    withGiveUp(traceScene(trace, { ...service, seed }), giveUp);
  const scene = sceneOf(1);
  refuseTooMuch(trace, { scene, costMs: service.costMs });
  const scores = ALGORITHMS.map((): ArenaScores[] => []);
  const runs: RunRecord[] = [];
  const freeP99Ms: number[] = [];
  const plays = seeds * (ALGORITHMS.length + (sloMs === undefined ? 1 : 0));
  let played = 0;

  /** Plays one run, which blocks the event loop. */
  async function run(entry: Entry, drawn: Scene): Promise<RunSeries> {
    await world.clock.sleep(0);
    if (world.signal.aborted) throw INTERRUPTED;
    const seconds = scene.minutes * 60;
    const report = (doneS: number) => onProgress((played + doneS / seconds) / plays);
    const series = await world.runBlocking(() =>
      playEntry(entry, { scene: drawn, onProgress: report })
    );
    played++;
    return series;
  }

  async function playSeed(seed: number): Promise<void> {
    const drawn = shareRequests(sceneOf(seed));
    if (sloMs === undefined) {
      freeP99Ms.push(scoreArena(await run(ENTRIES.unlimited, drawn)).p99Ms);
    }
    for (const [index, algorithm] of ALGORITHMS.entries()) {
      const series = await run(algorithm, drawn);
      scores[index]?.push(scoreArena(series));
      if (seed !== 1) continue;
      const { description } = algorithm;
      runs.push(
        assembleRecord(series, { algorithm: algorithmLabel(algorithm), description, seed }),
      );
    }
  }

  try {
    for (let seed = 1; seed <= seeds; seed++) await playSeed(seed);
  } catch (error) {
    if (error === INTERRUPTED) return undefined;
    throw error;
  }
  const free = quantile(freeP99Ms, 0.5);
  const slo = sloMs ?? sloAbove(freeP99Ms, giveUp);
  return {
    scene,
    sloMs: slo,
    ...(sloMs === undefined ? { freeP99Ms: free } : {}),
    outcomes: ALGORITHMS.map((algorithm, index) =>
      algorithmOutcome(algorithm, { runs: scores[index] ?? [], sloMs: slo })
    ),
    runs,
  };
}

/** A history in millicores, or of a whole cluster, would keep the program busy for hours. */
function refuseTooMuch(
  trace: Trace,
  { scene, costMs }: { readonly scene: Scene; readonly costMs: number },
): void {
  const [pod] = scene.pods;
  if (pod === undefined) return;
  const seconds = scene.minutes * 60;
  const cores = expectedDemand(pod.workload(), seconds).reduce((sum, one) => sum + one, 0) /
    seconds;
  const requests = cores * 1000 / costMs * seconds;
  if (requests <= MAX_REQUESTS) return;
  const unit = trace.unit === "cores" ? "; if it counts millicores, use --scale-p95" : "";
  throw new CommandProblem(
    `Cannot replay trace "${trace.name}": ${formatFigure(cores)} cores for ${
      formatCount(scene.minutes, "minute")
    } ` +
      `are ${formatFigure(requests / 1e6)} million requests, expected at most ${
        MAX_REQUESTS / 1e6
      } million: use fewer --minutes or a larger --cost-ms${unit}`,
  );
}

/** A static limit by the whole load, which is unknown beforehand. */
export const P90: Entry = limitOfP90();

/** The algorithm as text: `coallocator`, `coallocator, tight`, `vpa: limit by ratio, at 10 %`. */
export function algorithmLabel(entry: Entry): string {
  if (isSameEntry(entry, ENTRIES.coallocator)) return "coallocator";
  if (isSameEntry(entry, ENTRIES.tight)) return "coallocator, tight";
  return `${entry.algorithm}: ${entry.setting}`;
}

/** The algorithms under which a history is replayed, CoAllocator first. */
const ALGORITHMS: readonly (Entry & { readonly description: string })[] = [
  {
    ...ENTRIES.coallocator,
    description: "CoAllocator's agent and controller set the limit: its ceiling while CPU is free",
  },
  {
    ...ENTRIES.tight,
    description: "the same with market.idleCPU: tight, so that the limit follows demand",
  },
  { ...ENTRIES.asItIs, description: "the container's original limit, never changed" },
  ...LIMIT_FACTORS.map((factor) => ({
    ...requestTimes(factor),
    description: "the request times a factor, never changed",
  })),
  {
    ...P90,
    description: "the 90th percentile of the whole load with a margin, which is unknown beforehand",
  },
  ...allRivals().filter(({ algorithm }) => algorithm === "vpa").map((rival) => ({
    ...rival,
    description: "the Vertical Pod Autoscaler's rules, resizing in place",
  })),
];
