/**
 * The algorithms side by side, by app and phase.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { columns } from "../bench.ts";
import type { AppAlgorithm, AppFigures, AppResult } from "./app_result.ts";
import { LATE_MS } from "./load.ts";
import { type Phase, PHASES } from "./observe.ts";
import { APPS } from "./apps.ts";

/** Medians over an algorithm's runs. */
export interface AppMedians {
  readonly algorithm: AppAlgorithm;
  readonly runs: number;
  readonly app: string;
  readonly phase: Phase;
  readonly figures: AppFigures;
  readonly mostReplicas: number;
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
          mostReplicas: Math.max(...apps.map(({ mostReplicas }) => mostReplicas)),
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
  const medians = mediansOf(results);
  const rows = medians.map(({ phase, algorithm, app, figures, mostReplicas }) => [
    ...[phase, algorithm, app],
    ...[figures.p50Ms, figures.p99Ms, figures.quietP99Ms].map((ms) => ms.toFixed(1)),
    ...[figures.late, figures.failed].map((count) => percent(count, figures.requests)),
    ...[figures.throttledMsPerS.toFixed(1), figures.used.toFixed(0), `${mostReplicas}`],
  ]);
  const table = columns([[...HEAD, "throttled ms/s", "used m", "replicas"], ...rows]);
  const runs = results.map((result) =>
    `${result.algorithm}, seed ${result.seed}: load ${
      result.loadCores.toFixed(2)
    } CPUs, neighbour ` +
    `${result.neighbourUsed.toFixed(0)}m, others ${othersCores(result).toFixed(2)} CPUs, ` +
    `${result.apps.flatMap(({ changes }) => changes).length} changes of limits`
  );
  const versions = [
    ...new Set(
      results.map(({ versions, kernel }) =>
        Object.entries({ ...versions, kernel }).map((pair) => pair.join(" ")).join(", ")
      ),
    ),
  ];
  return [
    table,
    ...["", `Medians over runs. Late: over ${LATE_MS} ms.`, ...ratios(medians)],
    ...["", ...runs, ...versions],
  ].join("\n");
}

/** CPUs of all programs but the load, the apps and the neighbour, which runs for half the time. */
function othersCores({ busyCores, loadCores, neighbourUsed, apps }: AppResult): number {
  const used = apps.map(({ phases }) => (phases.alone.used + phases.neighbour.used) / 2);
  return busyCores - loadCores - [neighbourUsed / 2, ...used].reduce((a, b) => a + b) / 1000;
}

/**
 * Each algorithm's P99 against that without limits, and beside the neighbour against its own before.
 */
function ratios(medians: readonly AppMedians[]): string[] {
  const find = (algorithm: AppAlgorithm, app: string, phase: Phase): AppFigures | undefined =>
    medians.find((one) => one.algorithm === algorithm && one.app === app && one.phase === phase)
      ?.figures;
  return medians.flatMap(({ algorithm, app, phase, figures }) => {
    const none = find("none", app, phase);
    const alone = find(algorithm, app, "alone");
    const against = none === undefined || algorithm === "none"
      ? []
      : [`P99 ${times(figures.p99Ms, none.p99Ms)} that without limits`];
    const before = phase === "alone" || alone === undefined ? [] : [
      `between bursts ${times(figures.quietP99Ms, alone.quietP99Ms)} its own without the neighbour`,
    ];
    const both = [...against, ...before];
    return both.length === 0 ? [] : [`${phase}, ${algorithm}, ${app}: ${both.join("; ")}`];
  });
}

function times(value: number, base: number): string {
  return `${(value / base).toFixed(2)} times`;
}

function percent(count: number, all: number): string {
  return `${(100 * count / all).toFixed(1)} %`;
}
