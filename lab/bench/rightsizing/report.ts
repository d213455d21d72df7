/**
 * The report of the benchmark of rightsizing's pass.
 *
 * @module
 */
import { alignedColumns } from "../aligned_columns.ts";
import type { CheckedRecords } from "./check_records.ts";
import type { ClusterSize } from "./known_usage.ts";
import type { ServedUsage } from "./serve_usage.ts";
import type { MemoryUse } from "./watch_memory.ts";

/** What was measured. */
export interface PassFigures {
  readonly size: ClusterSize;
  readonly passSeconds: number;
  /** CPU of this process in the pass: the controller's, and the simulated API's. */
  readonly cpuSeconds: number;
  readonly served: ServedUsage;
  /** Without a policy, after a collection of garbage. */
  readonly idle: MemoryUse;
  /** In the pass, garbage included. */
  readonly highest: MemoryUse;
  /** Right after the pass and a collection of garbage: what is remembered and cached. */
  readonly after: MemoryUse;
  readonly checked: CheckedRecords;
}

/** A figure, what it may be at most, and whether it is; that is absent where the goal is not for this size. */
export interface Goal {
  readonly name: string;
  readonly value: number;
  readonly most: number;
  readonly held?: boolean;
}

/**
 * What is asked for: a pass's seconds, MiB a container beyond the idle loop, queries a workload. Memory
 * counts from so many containers on: what a pass takes whatever their number would decide below.
 */
export const PASS_GOALS = { passSeconds: 60, mebibytes: 0.1, fromContainers: 5000, queries: 2 };

/** The goals and whether they held. */
export function passGoals(figures: PassFigures): readonly Goal[] {
  const { size, passSeconds, served, idle, highest, after, checked } = figures;
  const all = size.workloads * size.containers * size.pods;
  const { passSeconds: seconds, mebibytes, fromContainers, queries } = PASS_GOALS;
  const goal = (name: string, value: number, most: number): Goal => ({
    name,
    value,
    most,
    held: value <= most,
  });
  const memory = (name: string, value: number): Goal => {
    const { held, ...figure } = goal(`${name}, MiB a container`, value / all, mebibytes);
    return all < fromContainers || held === undefined ? figure : { ...figure, held };
  };
  return [
    goal("pass, s", passSeconds, seconds),
    memory("highest resident", highest.resident - idle.resident),
    memory("used after", after.used - idle.used),
    goal("queries a workload", served.queries / size.workloads, queries),
    goal("queries refused", served.refused, 0),
    goal("wrong recommendations", checked.wrong, 0),
  ];
}

/** The report as text. */
export function passTable(figures: PassFigures): string {
  const { size, cpuSeconds, served, idle, highest, after, checked } = figures;
  const memory = (name: string, { used, resident }: MemoryUse): string[] => [
    name,
    used.toFixed(0),
    resident.toFixed(0),
  ];
  return [
    `${size.workloads} Deployments of ${size.pods} pods with ${size.containers} containers, 24 h of ` +
    "samples each 30 s; recommended, not applied",
    "the loop, its sources and copies as the controller has them; the API is simulated in its",
    "process, Prometheus is a stand-in in another one",
    "",
    ...alignedColumns([
      ["goal", "measured", "at most", ""],
      ...passGoals(figures).map(({ name, value, most, held }) => [
        name,
        Number(value.toPrecision(3)).toString(),
        String(most),
        held === undefined ? "-" : held ? "held" : "MISSED",
      ]),
    ]),
    "",
    ...alignedColumns([
      ["memory, MiB", "used", "resident"],
      memory("idle", idle),
      memory("highest", highest),
      memory("after", after),
    ]),
    "",
    `CPU ${cpuSeconds.toFixed(1)} s; ${served.queries} queries, ${served.points} points, ` +
    `${(served.bytes / 1e6).toFixed(0)} MB; ${checked.recommended} containers recommended for`,
    ...(checked.example === undefined ? [] : [`wrong, for instance ${checked.example}`]),
  ].join("\n");
}
