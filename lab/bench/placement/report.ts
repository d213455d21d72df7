/**
 * The report of the benchmark of placement.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import type { MemoryUse } from "../rightsizing/watch_memory.ts";
import type { ClusterSize } from "./cluster_objects.ts";

/** What was measured. */
export interface PlacementFigures {
  readonly size: ClusterSize;
  /** Beside one workload of one pod, after a collection of garbage. */
  readonly idle: MemoryUse;
  /** Beside the whole cluster, likewise. */
  readonly full: MemoryUse;
  /** From the start until each workload was looked at. */
  readonly syncedSeconds: number;
  /** From a changed annotation on the wire to the eviction that follows from it. */
  readonly decisions: {
    readonly count: number;
    readonly medianMs: number;
    readonly mostMs: number;
  };
}

/** A figure, what it must stay below, and whether it does. */
export interface PlacementGoal {
  readonly name: string;
  readonly value: number;
  readonly below: number;
  readonly held: boolean;
}

/** MB, and seconds. */
const BELOW = { megabytes: 100, decisionSeconds: 5 };
const MEBIBYTE = 2 ** 20;

/** The goals and whether they held. */
export function placementGoals(
  { idle, full, decisions: { mostMs } }: PlacementFigures,
): readonly PlacementGoal[] {
  const goal = (name: string, value: number, below: number): PlacementGoal => ({
    name,
    value,
    below,
    held: value < below,
  });
  const megabytes = (mebibytes: number): number => mebibytes * MEBIBYTE / 1e6;
  return [
    goal("resident over idle, MB", megabytes(full.resident - idle.resident), BELOW.megabytes),
    goal("used over idle, MB", megabytes(full.used - idle.used), BELOW.megabytes),
    goal("change to decision, s", mostMs / 1000, BELOW.decisionSeconds),
  ];
}

/** The figures for people. */
export function placementTable(figures: PlacementFigures): string {
  const { size: { workloads, pods }, syncedSeconds, decisions } = figures;
  const rows = placementGoals(figures).map(({ name, value, below, held }) => [
    name,
    value.toFixed(3),
    `< ${below}`,
    held ? "yes" : "NO",
  ]);
  return [
    `${workloads} Deployments of ${pods} pods, all looked at after ${syncedSeconds.toFixed(2)} s`,
    `${decisions.count} changes, median ${decisions.medianMs.toFixed(0)} ms`,
    ...alignedColumns([["", "measured", "goal", "held"], ...rows]),
  ].join("\n");
}
