/**
 * Plays entries on a stage with one seed, and scores their runs.
 *
 * @module
 */
import { assembleRecord, recordScene } from "../simulation/recorder.ts";
import type { RecordedPod, RunRecord, RunSeries } from "../simulation/run_record.ts";
import { podOnNode, type Scene } from "../simulation/scene.ts";
import { type ArenaScores, scoreArena } from "./arena_scores.ts";
import { ENTRIES, type Entry, findEntry, isSameEntry } from "./outcome.ts";
import { buildStage, type Stage } from "./stages.ts";
import { allRivals } from "../simulation/rivals/all_rivals.ts";
import { sceneNode } from "../simulation/market_cluster.ts";
import { oracleLimits, type OraclePod } from "../simulation/oracle/oracle_rival.ts";
import {
  playFixed,
  playMarket,
  playPlan,
  type PlayReports,
  playRival,
} from "../simulation/play_scene.ts";

/** Entries to play on one stage with one seed; plain data. */
export interface Contest {
  /** Index of the stage among those of the arena. */
  readonly stage: number;
  readonly seed: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /** Played in this order. Those that need the cores of CoAllocator come after it. */
  readonly entries: readonly Entry[];
  readonly oracle?: PlayOracleOptions;
  /** Whether series are kept, as means of 1 s. */
  readonly keepSeries: boolean;
}

/** The result of one entry; plain data. */
export interface Played extends Entry {
  readonly scores: ArenaScores;
  readonly record?: RunRecord;
}

/** Plays the entries one after the other; `onPlayed` is called when one was played. */
export async function playContest(
  contest: Contest,
  { stages, onPlayed }: { readonly stages: readonly Stage[]; readonly onPlayed: () => void },
): Promise<Played[]> {
  const stage = stages[contest.stage];
  if (stage === undefined) throw new RangeError(`Cannot play: there is no stage ${contest.stage}`);
  const { scene, ...known } = buildStage(stage, contest);
  const played: Played[] = [];
  for (const entry of contest.entries) {
    const run = await playInContest(entry, { scene, contest, played });
    onPlayed();
    const { algorithm, setting } = entry;
    const text = { algorithm, description: setting, seed: contest.seed };
    played.push({
      ...{ algorithm, setting, scores: scoreArena(run, known) },
      ...(contest.keepSeries && { record: assembleRecord(run, text) }),
    });
  }
  return played;
}

/** Equal cores need what CoAllocator took in this contest before, and the oracle its options. */
function playInContest(
  entry: Entry,
  { scene, contest, played }: {
    readonly scene: Scene;
    readonly contest: Contest;
    readonly played: readonly Played[];
  },
): RunSeries | Promise<RunSeries> {
  if (isSameEntry(entry, ENTRIES.equalCores)) {
    const ours = findEntry(played, ENTRIES.tight);
    if (ours === undefined) {
      throw new Error("Cannot play equal cores: coallocator was not played before");
    }
    return playFixed(scene, { limits: equalLimits(scene, ours.scores.coresAllocated) });
  }
  if (isSameEntry(entry, ENTRIES.oracle)) {
    if (contest.oracle === undefined) throw new Error("Cannot play the oracle: it knows no SLO");
    return playOracle(scene, contest.oracle);
  }
  return playEntry(entry, { scene });
}

function equalLimits({ pods }: Scene, cores: number): number[] {
  const sum = pods.reduce((total, { originalLimit }) => total + originalLimit, 0);
  return pods.map(({ originalLimit }) => Math.round(originalLimit * cores * 1000 / sum));
}

/**
 * The run of an entry that needs nothing from another's: CoAllocator, a rival, no limit, the limits as they
 * are. It is played at once when no promise is returned. Throws a RangeError for any other entry.
 */
export function playEntry(
  entry: Entry,
  { scene, ...reports }: PlayReports & { readonly scene: Scene },
): RunSeries | Promise<RunSeries> {
  const isEntry = (other: Entry) => isSameEntry(entry, other);
  if (isEntry(ENTRIES.coallocator)) return playMarket(scene, reports);
  if (isEntry(ENTRIES.tight)) {
    return playMarket(scene, { agent: { idleCPU: "tight" }, ...reports });
  }
  if (isEntry(ENTRIES.unlimited)) return playUnlimited(scene, reports);
  if (isEntry(ENTRIES.alone)) return playUnlimited(withoutNeighbour(scene), reports);
  if (isEntry(ENTRIES.asItIs)) {
    const limits = scene.pods.map(({ originalLimit }) => originalLimit);
    return playFixed(scene, { limits, ...reports });
  }
  const rival = findEntry(allRivals(), entry);
  if (rival === undefined) {
    throw new RangeError(
      `Cannot play: no algorithm is named "${entry.algorithm}" ("${entry.setting}")`,
    );
  }
  return playRival(scene, rival, reports);
}

function playUnlimited(scene: Scene, reports: PlayReports): RunSeries {
  return playFixed(scene, { limits: scene.pods.map(() => scene.cores * 1000), ...reports });
}

/** The victims meet the same periods: pods that come before others keep what is drawn for them. */
function withoutNeighbour(scene: Scene): Scene {
  const { victims = [] } = scene.contention ?? {};
  return { ...scene, pods: scene.pods.filter(({ name }) => victims.includes(name)) };
}

/** The bounds of the oracle's plan. */
export interface PlayOracleOptions {
  /** No request may wait longer than this beyond its own work, ms, while the node is not short. */
  readonly sloMs: number;
  /** How often limits may change then, per pod and minute: as often as CoAllocator. */
  readonly changesPerPodMinute: number;
}

/** The oracle's run, within the bounds that every algorithm has. */
export function playOracle(scene: Scene, options: PlayOracleOptions): RunSeries {
  const { sloMs, changesPerPodMinute } = options;
  const node = sceneNode(scene);
  for (const pod of scene.pods) node.addPod(podOnNode(pod, pod.originalLimit));
  const { bounds, capacity } = recordScene(scene, node);
  const pods = scene.pods.map((pod, index): OraclePod => {
    const { uid, threads, giveUpMs = Infinity, workload } = pod;
    const { floor, ceiling, weight } = bounds[index] as RecordedPod;
    const phaseMs = node.phaseMs(uid);
    return { uid, floor, ceiling, weight, threads, giveUpMs, phaseMs, arrivals: workload() };
  });
  const plans = oracleLimits(pods, {
    durationMs: scene.minutes * 60_000,
    sloMs,
    cores: scene.cores,
    capacity,
    changesPerMinute: changesPerPodMinute,
  });
  return playPlan(scene, { plans });
}
