/**
 * What the arena found out on one stage: what tables, pages and programs are given.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import type { TraceFormat } from "../trace_format.ts";
import type { AlgorithmOutcome } from "./algorithm_outcome.ts";
import type { Stage } from "./stage.ts";

/** The outcome of all entries on a stage. */
export interface StageResult {
  readonly kind: Stage["kind"];
  readonly name: string;
  /** Of a trace: how it was written. */
  readonly format?: TraceFormat;
  /** Of a trace that was scaled: its 95th percentile, CPUs. */
  readonly p95Cores?: number;
  /** Virtual minutes of each run. */
  readonly minutes: number;
  readonly seeds: number;
  /** P99 latency that is to be held, ms. */
  readonly sloMs: number;
  /** Entry by entry, in the order in which algorithms were asked for. */
  readonly outcomes: readonly AlgorithmOutcome[];
  /**
   * Series of the first seed, as means of 1 s: of the best setting of each algorithm. `algorithm` and
   * `description` are algorithm and setting. Empty when series were not kept.
   */
  readonly records: readonly RunRecord[];
}
