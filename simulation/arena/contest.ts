/**
 * Plays entries on a stage with one seed, and scores their runs.
 *
 * @module
 */
import { assembleRecord } from "../assemble_record.ts";
import { playFixed } from "../play_rival.ts";
import type { RunRecord } from "../run_record.ts";
import type { RunSeries } from "../run_series.ts";
import type { Scene } from "../scene.ts";
import { type ArenaScores, scoreArena } from "./arena_scores.ts";
import { type Entry, EQUAL_CORES, isSameEntry, ORACLE, OURS_TIGHT } from "./entry.ts";
import { playEntry } from "./play_entry.ts";
import { playOracle, type PlayOracleOptions } from "./play_oracle.ts";
import { buildStage, type Stage } from "./stage.ts";

/** What is to be played; plain data. */
export interface Contest {
  /** Index of the stage among those of the arena. */
  readonly stage: number;
  readonly seed: number;
  /** Played in this order. Those that need the cores of ours come after it. */
  readonly entries: readonly Entry[];
  /** What the oracle needs to know. */
  readonly oracle?: PlayOracleOptions;
  /** Whether series are kept, as means of 1 s. */
  readonly keepSeries: boolean;
}

/** What became of one entry; plain data. */
export interface Played extends Entry {
  readonly scores: ArenaScores;
  readonly record?: RunRecord;
}

/** Called when an entry was played. */
export type OnPlayed = () => void;

/** Plays the entries one after the other. */
export async function playContest(
  contest: Contest,
  { stages, onPlayed }: { readonly stages: readonly Stage[]; readonly onPlayed: OnPlayed },
): Promise<Played[]> {
  const stage = stages[contest.stage];
  if (stage === undefined) throw new RangeError(`Cannot play: there is no stage ${contest.stage}`);
  const { scene, ...known } = buildStage(stage, contest.seed);
  const played: Played[] = [];
  for (const entry of contest.entries) {
    const ours = played.find((one) => isSameEntry(one, OURS_TIGHT));
    const run = await playInContest(entry, { scene, contest, ours });
    onPlayed();
    const { algorithm, setting } = entry;
    const scores = scoreArena(run, known);
    if (!contest.keepSeries) {
      played.push({ algorithm, setting, scores });
      continue;
    }
    const record = assembleRecord(run, { algorithm, description: setting, seed: contest.seed });
    played.push({ algorithm, setting, scores, record });
  }
  return played;
}

interface Situation {
  readonly scene: Scene;
  readonly contest: Contest;
  /** The entry `OURS_TIGHT`, where it was played before. */
  readonly ours: Played | undefined;
}

/** Most entries stand for themselves; of some the contest must know more. */
function playInContest(
  entry: Entry,
  { scene, contest, ours }: Situation,
): RunSeries | Promise<RunSeries> {
  if (isSameEntry(entry, EQUAL_CORES)) {
    if (ours === undefined) throw new Error("Cannot play equal cores: ours was not played before");
    return playFixed(scene, { limits: equalLimits(scene, ours.scores.coresAllocated) });
  }
  if (isSameEntry(entry, ORACLE)) {
    if (contest.oracle === undefined) throw new Error("Cannot play the oracle: it knows no SLO");
    return playOracle(scene, contest.oracle);
  }
  return playEntry(entry, { scene });
}

function equalLimits({ pods }: Scene, cores: number): number[] {
  const sum = pods.reduce((total, { originalLimit }) => total + originalLimit, 0);
  return pods.map(({ originalLimit }) => Math.round(originalLimit * cores * 1000 / sum));
}
