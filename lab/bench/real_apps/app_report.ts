/**
 * The algorithms side by side, by app and phase.
 *
 * @module
 */
import { quantile } from "../../simulation/statistics.ts";
import { columns } from "../bench.ts";
import {
  type AppAlgorithm,
  type AppFigures,
  type AppResult,
  type Phase,
  PHASES,
} from "./app_result.ts";
import { LATE_MS } from "./load.ts";
import { APPS } from "./apps.ts";

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
