/**
 * The arena: every algorithm with every setting on every stage with every seed, here or spread over
 * workers. The results do not depend on where.
 *
 * @module
 */
import { startThread, workThrough } from "../task/thread.ts";
import { type Contest, playContest, type Played } from "./contest.ts";
import {
  type AlgorithmOutcome,
  algorithmOutcome,
  bestPerAlgorithm,
  ENTRIES,
  type Entry,
  findEntry,
  isCoallocator,
  isYardstick,
  latencyOf,
  rivalEntries,
  sloAbove,
} from "./outcome.ts";
import { hasVictims, type Stage, type StageResult } from "./stages.ts";

/** The stages, algorithms and seeds that the arena plays. */
export interface ArenaPlan {
  readonly stages: readonly Stage[];
  /** Names of algorithms, `coallocator` and `oracle` included. */
  readonly algorithms: readonly string[];
  /** Seeds 1 to this. */
  readonly seeds: number;
  /** Clients give up so long after a request, s; 0: never. */
  readonly giveUp: number;
  /**
   * P99 latency to be held, ms. Default: what it is without any limit, for victims without their
   * neighbour, and 100 ms.
   */
  readonly sloMs?: number;
  /** Whether series of the first seed are kept. */
  readonly keepSeries: boolean;
}

/** Rivals of one contest: few enough that workers end at about the same time. */
const RIVALS_TOGETHER = 11;
/** Nodes of a hundred pods: all settings of all rivals there would take most of the arena's time. */
const CROWDED: readonly Stage["name"][] = ["warm-pool", "many-pods"];
/** The cost of a run, relative to a rival's on the same scene. */
const COSTS: ReadonlyMap<string, number> = new Map([
  [ENTRIES.coallocator.algorithm, 4],
  [ENTRIES.tight.algorithm, 4],
  [ENTRIES.oracle.algorithm, 16],
]);
/** The cost of a stage's minute, relative to one of one pod. */
const COST_OF_SHARED_NODE = 2;

/**
 * Plays everything. The result depends on the plan alone. `onShare` is called after each run with the
 * share of the work that is done, 0 to 1.
 */
export async function runArena(
  plan: ArenaPlan,
  { player, onShare }: {
    readonly player: ContestPlayer;
    readonly onShare?: (share: number) => void;
  },
): Promise<StageResult[]> {
  const contests = longestFirst(plan, firstContests(plan));
  const withOracle = plan.algorithms.includes(ENTRIES.oracle.algorithm);
  const oracleCost = withOracle
    ? plan.stages.reduce(
      (sum, stage) => sum + (isCrowded(stage) ? 0 : plan.seeds * costOf(stage, ENTRIES.oracle)),
      0,
    )
    : 0;
  const total = contests.reduce((sum, contest) => sum + costOfContest(plan, contest), oracleCost);
  let done = 0;
  const onPlayed = (contest: Contest): void => {
    done += costOfContest(plan, contest) / contest.entries.length;
    onShare?.(Math.min(1, done / total));
  };
  const played = collect(plan, { contests, outcomes: await player.play(contests, onPlayed) });
  const slos = plan.stages.map((_, stage) => plan.sloMs ?? sloOf(plan, played[stage] ?? []));
  if (withOracle) {
    const last = longestFirst(plan, oracleContests(plan, { played, slos }));
    const outcomes = await player.play(last, onPlayed);
    collect(plan, { contests: last, outcomes }).forEach((more, stage) => {
      more.forEach((ofSeed, index) => played[stage]?.[index]?.push(...ofSeed));
    });
  }
  return plan.stages.map((stage, index) =>
    stageResult(plan, { stage, sloMs: slos[index] ?? 0, played: played[index] ?? [] })
  );
}

function firstContests({ stages, algorithms, seeds, giveUp, keepSeries }: ArenaPlan): Contest[] {
  const rivals = rivalEntries(algorithms);
  const groups: Entry[][] = [];
  for (let from = 0; from < rivals.length; from += RIVALS_TOGETHER) {
    groups.push(rivals.slice(from, from + RIVALS_TOGETHER));
  }
  return stages.flatMap((stage, index) => {
    const alone = hasVictims(stage) ? [ENTRIES.alone] : [];
    const others = isCrowded(stage) ? [] : groups;
    return Array.from({ length: seeds }, (_, before) => before + 1).flatMap((seed) =>
      [[ENTRIES.unlimited, ...alone, ...marketEntries(algorithms)], ...others].map((entries) => ({
        stage: index,
        seed,
        giveUp,
        entries,
        keepSeries: keepSeries && seed === 1,
      }))
    );
  });
}

function isCrowded({ kind, name }: Stage): boolean {
  return kind === "services" && CROWDED.includes(name);
}

/** So that workers end at about the same time. */
function longestFirst(plan: ArenaPlan, contests: readonly Contest[]): Contest[] {
  return contests.toSorted((a, b) => costOfContest(plan, b) - costOfContest(plan, a));
}

/** CoAllocator in both modes, and fixed limits of the same cores. */
function marketEntries(algorithms: readonly string[]): Entry[] {
  if (!algorithms.includes(ENTRIES.coallocator.algorithm)) {
    return algorithms.includes(ENTRIES.oracle.algorithm) ? [ENTRIES.tight] : [];
  }
  return [ENTRIES.coallocator, ENTRIES.tight, ENTRIES.equalCores];
}

function oracleContests(
  { stages, giveUp, keepSeries }: ArenaPlan,
  { played, slos }: { readonly played: readonly Played[][][]; readonly slos: readonly number[] },
): Contest[] {
  return stages.flatMap((on, stage) =>
    (isCrowded(on) ? [] : played[stage] ?? []).map((ofSeed, index): Contest => {
      const ours = findEntry(ofSeed, ENTRIES.tight);
      return {
        stage,
        seed: index + 1,
        giveUp,
        entries: [ENTRIES.oracle],
        oracle: {
          sloMs: slos[stage] ?? 0,
          changesPerPodMinute: ours?.scores.changesPerPodMinute ?? 0,
        },
        keepSeries: keepSeries && index === 0,
      };
    })
  );
}

/** By stage and seed. */
function collect(
  { stages, seeds }: ArenaPlan,
  { contests, outcomes }: {
    readonly contests: readonly Contest[];
    readonly outcomes: readonly (readonly Played[])[];
  },
): Played[][][] {
  const all = stages.map(() => Array.from({ length: seeds }, (): Played[] => []));
  contests.forEach(({ stage, seed }, index) =>
    all[stage]?.[seed - 1]?.push(...(outcomes[index] ?? []))
  );
  return all;
}

/** The SLO of a stage, ms; that of victims is made from the run without their neighbour. */
function sloOf({ giveUp }: ArenaPlan, seeds: readonly (readonly Played[])[]): number {
  const latencies = seeds.flatMap((played) => {
    const free = findEntry(played, ENTRIES.alone) ?? findEntry(played, ENTRIES.unlimited);
    return free === undefined ? [] : [latencyOf(free.scores)];
  });
  return sloAbove(latencies, giveUp);
}

function stageResult(
  { algorithms, seeds, giveUp }: ArenaPlan,
  { stage, sloMs, played }: {
    readonly stage: Stage;
    readonly sloMs: number;
    readonly played: readonly (readonly Played[])[];
  },
): StageResult {
  const outcomes = [...rivalEntries(algorithms), ...Object.values<Entry>(ENTRIES)]
    .filter((entry) =>
      isYardstick(entry) ||
      algorithms.includes(isCoallocator(entry) ? ENTRIES.coallocator.algorithm : entry.algorithm)
    )
    .flatMap((entry): AlgorithmOutcome[] => {
      const runs = played.flatMap((ofSeed) => findEntry(ofSeed, entry)?.scores ?? []);
      return runs.length === 0 ? [] : [algorithmOutcome(entry, { runs, sloMs })];
    });
  const best = bestPerAlgorithm(outcomes);
  return {
    kind: stage.kind,
    name: stage.name,
    ...(stage.kind === "trace" ? { format: stage.format } : {}),
    ...(stage.kind === "trace" && stage.p95Cores !== undefined ? { p95Cores: stage.p95Cores } : {}),
    minutes: stage.minutes,
    seeds,
    giveUp,
    sloMs,
    outcomes,
    records: best.flatMap((entry) => findEntry(played[0] ?? [], entry)?.record ?? []),
  };
}

function costOfContest({ stages }: ArenaPlan, { stage, entries }: Contest): number {
  const on = stages[stage];
  return on === undefined ? 0 : entries.reduce((sum, entry) => sum + costOf(on, entry), 0);
}

function costOf({ kind, minutes }: Stage, { algorithm }: Entry): number {
  const perMinute = kind === "shared node" || kind === "services" ? COST_OF_SHARED_NODE : 1;
  return minutes * perMinute * (COSTS.get(algorithm) ?? 1);
}

/** Plays contests and returns what became of each, in their order. */
export interface ContestPlayer {
  play(contests: readonly Contest[], onPlayed: (contest: Contest) => void): Promise<Played[][]>;
  /** Ends it; contests under way are given up. */
  close(): void;
}

/** The message to a worker: first the stages, then contests one by one. */
export type ToWorker = readonly Stage[] | Contest;

/** Plays them in this thread. */
export function playHere(stages: readonly Stage[]): ContestPlayer {
  return {
    play: (contests, onPlayed) =>
      workThrough(contests, [
        (contest) => playContest(contest, { stages, onPlayed: () => onPlayed(contest) }),
      ]),
    close() {},
  };
}

/** Plays them in `count` workers; each takes the next contest when it has done one. */
export function playInWorkers(stages: readonly Stage[], count: number): ContestPlayer {
  const module = new URL("./arena_worker.ts", import.meta.url);
  const threads = Array.from({ length: count }, () => startThread<ToWorker>(module));
  for (const thread of threads) thread.send(stages);
  return {
    play: (contests, onPlayed) =>
      workThrough(
        contests,
        threads.map(({ ask }) => (contest) => ask<Played[]>(contest, () => onPlayed(contest))),
      ),
    close: () => threads.forEach((thread) => thread.end()),
  };
}
