/**
 * Plays entries on a stage with one seed, and scores their runs.
 *
 * @module
 */
import { assembleRecord } from "../assemble_record.ts";
import { playMarket } from "../play_market.ts";
import { playFixed, playRival } from "../play_rival.ts";
import { allRivals } from "../rivals/all_rivals.ts";
import type { RunRecord } from "../run_record.ts";
import type { RunSeries } from "../run_series.ts";
import type { Scene } from "../scene.ts";
import { type ArenaScores, scoreArena } from "./arena_scores.ts";
import {
  type Entry,
  EQUAL_CORES,
  isSameEntry,
  ORACLE,
  OURS,
  OURS_LENT,
  UNLIMITED,
} from "./entry.ts";
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

/** Told when an entry was played. */
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
    const ours = played.find((one) => isSameEntry(one, OURS));
    const run = await playEntry(entry, { scene, contest, ours });
    onPlayed();
    const { law, setting } = entry;
    const scores = scoreArena(run, known);
    if (!contest.keepSeries) {
      played.push({ law, setting, scores });
      continue;
    }
    const record = assembleRecord(run, { law, description: setting, seed: contest.seed });
    played.push({ law, setting, scores, record });
  }
  return played;
}

interface Situation {
  readonly scene: Scene;
  readonly contest: Contest;
  /** The entry `OURS`, where it was played before. */
  readonly ours: Played | undefined;
}

async function playEntry(
  entry: Entry,
  { scene, contest, ours }: Situation,
): Promise<RunSeries> {
  const is = (other: Entry) => isSameEntry(entry, other);
  if (is(OURS)) return await playMarket(scene, { agent: { lendUpTo: 0 } });
  if (is(OURS_LENT)) return await playMarket(scene);
  if (is(UNLIMITED)) {
    return playFixed(scene, { limits: scene.pods.map(() => scene.cores * 1000) });
  }
  if (is(EQUAL_CORES)) {
    if (ours === undefined) throw new Error("Cannot play equal cores: ours was not played before");
    return playFixed(scene, { limits: equalLimits(scene, ours.scores.coresAllocated) });
  }
  if (is(ORACLE)) {
    if (contest.oracle === undefined) throw new Error("Cannot play the oracle: it knows no SLO");
    return playOracle(scene, contest.oracle);
  }
  const rival = allRivals().find((one) => isSameEntry(one, entry));
  if (rival === undefined) {
    throw new RangeError(`Cannot play: no law is named "${entry.law}" ("${entry.setting}")`);
  }
  return playRival(scene, rival);
}

function equalLimits({ pods }: Scene, cores: number): number[] {
  const sum = pods.reduce((total, { ownLimit }) => total + ownLimit, 0);
  return pods.map(({ ownLimit }) => Math.round(ownLimit * cores * 1000 / sum));
}
