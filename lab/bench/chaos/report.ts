/**
 * What became of a run of chaos.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import type { Target } from "./plan.ts";
import type { DatedBreak } from "./watch.ts";

/** Kills of one target. */
export interface KillCount {
  readonly target: Target;
  /** It ran, and was killed. */
  readonly killed: number;
  /** It was down already, or on its way up. */
  readonly absent: number;
}

/** What the run prints. */
export interface ChaosReport {
  readonly seed: number;
  readonly minutes: number;
  readonly kills: readonly KillCount[];
  /** Bursts, opt-outs and opt-ins, and replaced pods. */
  readonly acts: number;
  /** Versions of pods that were checked. */
  readonly versions: number;
  /** Limits that the market lowered, as it does while CPU is scarce. */
  readonly lowered: number;
  /** Lists that replaced a broken watch. */
  readonly relists: number;
  /** Resizes in the API server's audit log, each checked against the Lease. */
  readonly resizes: number;
  /** Times at which another controller took the Lease. */
  readonly terms: number;
  /** Ends of the product's containers that no kill of theirs caused, but an API server that was away. */
  readonly ownEnds: number;
  /** Until all serve and the product is Ready again, after the last kill. */
  readonly recoveredSeconds: number;
  /** Until limits rest, after that. */
  readonly restSeconds: number;
  /** Until every limit is the user's, after the opt-out. */
  readonly restoredSeconds: number;
  readonly violations: readonly DatedBreak[];
}

/** The report for people. */
export function chaosTable(report: ChaosReport): string {
  const { seed, minutes, kills, violations } = report;
  const seconds = (value: number): string => `${value.toFixed(1)} s`;
  return [
    `${minutes} minutes, seed ${seed}`,
    ...alignedColumns([
      ["kill -9", "killed", "was down"],
      ...kills.map(({ target, killed, absent }) => [target, `${killed}`, `${absent}`]),
    ]),
    `${report.acts} bursts, opt-outs and new pods; ${report.lowered} limits lowered; ` +
    `${report.terms} terms of leaders`,
    `${report.versions} versions of pods and ${report.resizes} resizes checked, ` +
    `${report.relists} lists`,
    `${report.ownEnds} programs ended by themselves while the API server was away`,
    `back after the last kill in ${seconds(report.recoveredSeconds)}, limits at rest ` +
    `${seconds(report.restSeconds)} later; restored ${seconds(report.restoredSeconds)} after the ` +
    "opt-out",
    ...violations.map(({ at, promise, message }) => `${at} BROKEN ${promise}: ${message}`),
    violations.length === 0 ? "no promise was broken" : `${violations.length} promises broken`,
  ].join("\n");
}
