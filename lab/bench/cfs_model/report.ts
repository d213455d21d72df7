/**
 * The report of `bench:cfs-model`: the kernel's figures, the model's, and whether they agree.
 *
 * @module
 */
import type { LevelCounters } from "../../../tests/host/level_counters.ts";
import type { Level } from "./cgroup.ts";
import { type Cell, loadName } from "./grid.ts";

/** Counters of both levels, per second: kernels' and model's alike. */
export type LevelRates = Readonly<Record<Level, LevelCounters>>;

/** What is compared. */
export type Figure = keyof LevelCounters;

/** Of one figure: per second. */
export interface Comparison {
  /** Medians over the repetitions. At two levels the least and the most that may truly have been. */
  readonly kernel: readonly [least: number, most: number];
  readonly model: number;
  /** Distance from the kernel's, and the most that it may be. */
  readonly error: number;
  readonly allowed: number;
}

/** One cell, compared. */
export interface CellReport {
  readonly cell: Cell;
  readonly figures: Readonly<Record<Figure, Comparison>>;
  readonly passes: boolean;
}

/** The grid, and under which conditions it was run. */
export interface CFSModelReport {
  /** `uname -r`. */
  readonly kernel: string;
  readonly cgroups: 1 | 2;
  readonly cpus: number;
  readonly tickMs: number;
  readonly repetitions: number;
  /** Runs that did not count since other programs ran at the same time, and those counted all the same. */
  readonly repeated: number;
  readonly disturbed: number;
  readonly cells: readonly CellReport[];
  readonly passes: boolean;
}

/** Of the kernel's figure, and of all that there could be of it. */
const SHARE = 0.05;
const SHARE_OF_ALL = 0.01;
const PERIODS_PER_S = 10;
const FIGURES: readonly Figure[] = ["periods", "throttledPeriods", "throttledMs", "usageMs"];

/**
 * Compares a cell. The criterion is 5 % of the kernel's figure or 1 % of threads × time, whichever is
 * larger; time counts in periods where periods are counted.
 *
 * A pause of a pod with a quota on both levels may be counted at either of them, or in part at both.
 * What was held is no less than the larger count and no more than their sum; the model counts it once.
 */
export function compareCell(
  cell: Cell,
  { runs, model }: { runs: readonly LevelRates[]; model: LevelRates },
): CellReport {
  const figures = Object.fromEntries(FIGURES.map((figure) => {
    const held = cell.levels === 2 && figure.startsWith("throttled");
    const least = median(
      runs.map(({ pod, container }) =>
        held ? Math.max(pod[figure], container[figure]) : container[figure]
      ),
    );
    const most = median(
      runs.map(({ pod, container }) => container[figure] + (held ? pod[figure] : 0)),
    );
    const modelled = model.container[figure] + (held ? model.pod[figure] : 0);
    const all = cell.threads * (figure.endsWith("Ms") ? 1000 : PERIODS_PER_S);
    const comparison: Comparison = {
      kernel: [least, most],
      model: modelled,
      error: Math.max(0, least - modelled, modelled - most),
      allowed: Math.max(SHARE * (modelled < least ? least : most), SHARE_OF_ALL * all),
    };
    return [figure, comparison];
  })) as Record<Figure, Comparison>;
  return { cell, figures, passes: FIGURES.every((one) => holds(figures[one])) };
}

function holds({ error, allowed }: Comparison): boolean {
  // Rounding is no error.
  return error <= allowed + 1e-9;
}

/** The middle one, or the mean of the two in the middle. RangeError without any. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const low = sorted[(sorted.length - 1) >> 1];
  const high = sorted[sorted.length >> 1];
  if (low === undefined || high === undefined) {
    throw new RangeError("Cannot take a median: there are no values");
  }
  return (low + high) / 2;
}

/** The heads of the table's columns. */
export const TABLE_HEAD: readonly string[] = [
  "quota",
  "threads",
  "levels",
  "each thread",
  "periods",
  "throttled",
  "throttled ms",
  "used ms",
  "",
];

/** A row of the table: what the kernel counts, then what the model does, per second. */
export function tableRow({ cell, figures, passes }: CellReport): string[] {
  const shown = (figure: Figure): string => {
    const digits = figure.endsWith("Ms") ? 0 : 1;
    const comparison = figures[figure];
    const kernel = [...new Set(comparison.kernel.map((value) => value.toFixed(digits)))].join("-");
    const mark = holds(comparison) ? "" : "!";
    return `${kernel} / ${comparison.model.toFixed(digits)}${mark}`;
  };
  return [
    `${cell.quota}m`,
    String(cell.threads),
    String(cell.levels),
    loadName(cell),
    ...FIGURES.map(shown),
    passes ? "agrees" : "DIFFERS",
  ];
}

/** The report for people. */
export function cfsModelTable(report: CFSModelReport): string {
  const { kernel, cgroups, cpus, tickMs, repetitions, repeated, disturbed, cells } = report;
  const rows = [TABLE_HEAD, ...cells.map(tableRow)];
  const widths = TABLE_HEAD.map((_, i) => Math.max(...rows.map((row) => row[i]?.length ?? 0)));
  const agreeing = cells.filter(({ passes }) => passes).length;
  return [
    `Kernel ${kernel}, cgroup v${cgroups}, ${cpus} CPUs, a tick each ${tickMs} ms; ` +
    `kernel / model, per second, median of ${repetitions}`,
    "",
    ...rows.map((row) => row.map((cell, i) => cell.padStart(widths[i] ?? 0)).join("  ").trimEnd()),
    "",
    `${agreeing} of ${cells.length} cells agree within 5 % or 1 % of threads x time. ` +
    `${repeated} runs were repeated because other programs ran, ${disturbed} counted all the same.`,
  ].join("\n");
}
