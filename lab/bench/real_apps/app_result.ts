/**
 * The programs that are measured (nginx, which compresses a page, redis, which intersects two sets, and a
 * service in Deno, which makes a report), when each has a burst, and the result of a run: kept in a file as
 * soon as it ends, and the algorithms side by side.
 *
 * @module
 */
import { dirname } from "node:path";
import { quantile } from "../../simulation/statistics.ts";
import { columns } from "../bench.ts";
import { seededRandom } from "../../../shared/random.ts";

/** One of them. */
export interface App {
  readonly name: "nginx" | "redis" | "deno";
  readonly port: number;
  /** The path of every request. */
  readonly path: string;
  /** Whether replicas can share the load. An HPA cannot split what redis holds. */
  readonly scales: boolean;
}

/** All of them, in the order of the tables. */
export const APPS: readonly App[] = [
  { name: "nginx", port: 8080, path: "/page.html", scales: true },
  { name: "redis", port: 6379, path: "/SINTERCARD/2/even/third", scales: false },
  { name: "deno", port: 8080, path: "/", scales: true },
];

/** A burst of one app. Seconds after the run's start. */
export interface Burst {
  readonly app: App["name"];
  readonly atS: number;
}

/** Length of a burst. */
export const BURST_S = 8;
/** Length of a turn: what the burst leaves of it lets queues drain. */
export const TURN_S = 15;
/** A burst begins within these first seconds of its turn. */
const LATEST_S = 2;

/**
 * Bursts of all apps in turn, as often as whole rounds fit into each half of the run. The seed draws
 * the order in each round and the moments, which are the same for each algorithm.
 */
export function burstTurns(
  { seed, minutes }: { readonly seed: number; readonly minutes: number },
): Burst[] {
  const random = seededRandom(seed);
  const halfS = 30 * minutes;
  const rounds = Math.floor(halfS / (APPS.length * TURN_S));
  return [0, halfS].flatMap((startS) =>
    Array.from(
      { length: rounds },
      (_, round) =>
        APPS.map(({ name }) => ({ name, draw: random.next() }))
          .toSorted((a, b) => a.draw - b.draw)
          .map(({ name }, turn) => ({
            app: name,
            atS: startS + (round * APPS.length + turn) * TURN_S + LATEST_S * random.next(),
          })),
    ).flat()
  );
}

/**
 * Limits of twice the request; no CPU limits; a HorizontalPodAutoscaler of one to four replicas for
 * what has no state, with limits as in the first; the product as shipped, likewise.
 */
export const APP_ALGORITHMS = ["fixed", "none", "hpa", "coallocator"] as const;

/** One of them. */
export type AppAlgorithm = (typeof APP_ALGORITHMS)[number];

/** The two halves of a run. */
export const PHASES = ["alone", "neighbour"] as const;

/** One of them. */
export type Phase = (typeof PHASES)[number];

/** An app in one phase. */
export interface AppFigures {
  readonly requests: number;
  readonly failed: number;
  /** Answered, but later than 1 s. */
  readonly late: number;
  /** Latency of all requests; a failed one counts with the time after which the client gives up. */
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** P99 of the requests outside of the app's own turns. */
  readonly quietP99Ms: number;
}

/** One run. */
export interface AppResult {
  readonly algorithm: AppAlgorithm;
  readonly seed: number;
  readonly minutes: number;
  readonly kernel: string;
  readonly versions: Readonly<Record<string, string>>;
  /** Mean millicores of the neighbour in its half. */
  readonly neighbourUsed: number;
  readonly apps: readonly {
    readonly name: string;
    readonly phases: Readonly<Record<Phase, AppFigures>>;
  }[];
}

/** The file of a result. */
export function resultFile(
  folder: string,
  { algorithm, seed, minutes }: Pick<AppResult, "algorithm" | "seed" | "minutes">,
): string {
  return `${folder}/${algorithm}-seed${seed}-${minutes}min.json`;
}

/** Keeps a value as JSON, and makes the folder for it. */
export async function keep(file: string, value: object): Promise<void> {
  await Deno.mkdir(dirname(file), { recursive: true });
  await Deno.writeTextFile(file, `${JSON.stringify(value)}\n`);
}

/** Reads what was kept; undefined when there is none. */
export async function readKept<T>(file: string): Promise<T | undefined> {
  try {
    return JSON.parse(await Deno.readTextFile(file));
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/** A request that takes longer is late. */
export const LATE_MS = 1000;

/** Medians over an algorithm's runs. */
export interface AppMedians {
  readonly algorithm: AppAlgorithm;
  readonly runs: number;
  readonly app: string;
  readonly phase: Phase;
  readonly figures: AppFigures;
}

/** Medians of each figure by algorithm, phase and app. */
export function mediansOf(results: readonly AppResult[]): AppMedians[] {
  const algorithms = [...new Set(results.map(({ algorithm }) => algorithm))];
  return PHASES.flatMap((phase) =>
    algorithms.flatMap((algorithm) =>
      APPS.map(({ name }): AppMedians => {
        const runs = results.filter((result) => result.algorithm === algorithm);
        const apps = runs.flatMap(({ apps }) => apps.filter((app) => app.name === name));
        const median = (key: keyof AppFigures): number =>
          quantile(apps.map(({ phases }) => phases[phase][key]), 0.5);
        return {
          ...{ algorithm, runs: runs.length, app: name, phase },
          figures: Object.fromEntries(
            Object.keys(apps[0]?.phases[phase] ?? {})
              .map((key) => [key, median(key as keyof AppFigures)]),
          ) as unknown as AppFigures,
        };
      })
    )
  );
}

const HEAD = ["phase", "algorithm", "app", "P50 ms", "P99", "P99 between bursts", "late", "failed"];

/** The report for people. */
export function appReport(results: readonly AppResult[]): string {
  const rows = mediansOf(results).map(({ phase, algorithm, app, figures }) => [
    ...[phase, algorithm, app],
    ...[figures.p50Ms, figures.p99Ms, figures.quietP99Ms].map((ms) => ms.toFixed(1)),
    ...[figures.late, figures.failed].map((count) => percent(count, figures.requests)),
  ]);
  const runs = results.map(({ algorithm, seed, neighbourUsed }) =>
    `${algorithm}, seed ${seed}: neighbour ${neighbourUsed.toFixed(0)}m`
  );
  const versions = [
    ...new Set(
      results.map(({ versions, kernel }) =>
        Object.entries({ ...versions, kernel }).map((pair) => pair.join(" ")).join(", ")
      ),
    ),
  ];
  return [
    columns([HEAD, ...rows]),
    ...["", `Medians over runs. Late: over ${LATE_MS} ms.`],
    ...["", ...runs, ...versions],
  ].join("\n");
}

function percent(count: number, all: number): string {
  return `${(100 * count / all).toFixed(1)} %`;
}
