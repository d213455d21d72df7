/**
 * Whether memory and open files of the product stay flat.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import type { Churn } from "./churn.ts";
import { blockMeans, isFlat, type Slope, slopeOf } from "./slope.ts";

/** A look at one process. */
export interface ProcessSample {
  /** Hours since the run began. */
  readonly atHours: number;
  readonly pid: number;
  /** KiB: all memory, and that which no file backs. */
  readonly rss: number;
  readonly anonymous: number;
  readonly files: number;
}

/** One figure of one process. */
export interface Series extends Slope {
  /** For instance `agent files`. */
  readonly name: string;
  /** First and last sample after the warm-up. */
  readonly first: number;
  readonly last: number;
  readonly samples: number;
  readonly flat: boolean;
}

/** What the run prints. */
export interface SoakReport {
  readonly seed: number;
  readonly minutes: number;
  /** Whether the programs collected all garbage all the time. */
  readonly fullGc: boolean;
  readonly warmUpMinutes: number;
  readonly churn: Churn;
  /** PodAllocations in the end: the product did take part. */
  readonly records: number;
  readonly series: readonly Series[];
  /** Programs that ended; their series cannot be judged. */
  readonly restarted: readonly string[];
}

/**
 * What growth matters, per hour of this churn, in which 1,800 pods come and go. 2 MiB are 1.2 KiB per
 * pod: the agent has some 100 MiB up to its limit, which takes 50 hours and 90,000 pods. A file that is
 * left open with one pod of 450 makes 4. Pages that a file backs are the program itself: they are shown
 * and not judged.
 */
const BOUNDS = { rss: Infinity, anonymous: 2048, files: 4 } as const;
/** Samples of the same minutes are alike: open files follow the pods that are there. */
const BLOCKS = 10;
const FIGURES = ["rss", "anonymous", "files"] as const;

/** The series of a process's samples after the warm-up. */
export function seriesOf(program: string, samples: readonly ProcessSample[]): Series[] {
  return FIGURES.map((figure): Series => {
    const slope = slopeOf(blockMeans(samples.map((one) => [one.atHours, one[figure]]), BLOCKS));
    return {
      name: `${program} ${figure}`,
      ...slope,
      first: samples[0]?.[figure] ?? NaN,
      last: samples.at(-1)?.[figure] ?? NaN,
      samples: samples.length,
      flat: isFlat(slope, BOUNDS[figure]),
    };
  });
}

/** Whether nothing grew, nothing ended, and the product managed pods. */
export function isSteady({ series, restarted, records }: SoakReport): boolean {
  return records > 0 && restarted.length === 0 && series.every(({ flat }) => flat);
}

/** The report for people. */
export function soakTable(report: SoakReport): string {
  const { seed, minutes, fullGc, warmUpMinutes, churn, records, series, restarted } = report;
  const { created, deleted, toggled, failed } = churn;
  return [
    `${minutes} minutes, of which ${warmUpMinutes.toFixed(0)} are warm-up; seed ${seed}` +
    `${fullGc ? ", collecting all garbage" : ""}; ` +
    `${created} pods made, ${deleted} deleted, ${toggled} opt-outs and opt-ins, ${failed} failed; ` +
    `${records} managed in the end`,
    ...alignedColumns([
      ["KiB, open files", "first", "last", "per hour", "± error", ""],
      ...series.map(({ name, first, last, perUnit, error, flat }) => [
        name,
        `${first}`,
        `${last}`,
        perUnit.toFixed(1),
        error.toFixed(1),
        flat ? "flat" : "GROWS",
      ]),
    ]),
    ...restarted.map((program) => `ENDED: ${program}`),
  ].join("\n");
}
