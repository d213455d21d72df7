/**
 * Runs of the crowded scene side by side, for people.
 *
 * @module
 */
import { CROWD_ALGORITHMS, type CrowdAlgorithm, type CrowdResult } from "./crowd_result.ts";
import { quantile } from "../../simulation/statistics.ts";
import { isForeseeable, isRefusal } from "./refusal_kind.ts";
import { verdictsOf } from "./verdicts.ts";
import { lateMedian } from "./watch_namespace.ts";

/** How far the autoscaler's replicas may be from those without the product. */
export const REPLICAS_APART = 1;

/** The autoscaler's replicas under both algorithms, where there are runs of both. */
export interface ReplicaComparison {
  /** Means over runs of the median over a run's last half. */
  readonly with: number;
  readonly without: number;
  readonly difference: number;
  readonly met: boolean;
}

/** Compares means of medians; undefined without runs of both algorithms. */
export function compareReplicas(results: readonly CrowdResult[]): ReplicaComparison | undefined {
  const meanOf = (law: CrowdAlgorithm): number => {
    const medians = results.filter((each) => each.law === law)
      .map(({ replicas }) => lateMedian(replicas));
    return medians.reduce((sum, median) => sum + median, 0) / medians.length;
  };
  const [ours, bare] = [meanOf("with"), meanOf("without")];
  if (Number.isNaN(ours) || Number.isNaN(bare)) return undefined;
  const difference = ours - bare;
  return { with: ours, without: bare, difference, met: Math.abs(difference) <= REPLICAS_APART };
}

/**
 * True when there are so many runs of each algorithm that was asked for, those with the product kept to
 * the goals, and so did the replicas, where both algorithms were asked for.
 */
export function allMet(
  results: readonly CrowdResult[],
  { runs, laws }: { readonly runs: number; readonly laws: readonly CrowdAlgorithm[] },
): boolean {
  const of = (law: CrowdAlgorithm): readonly CrowdResult[] =>
    results.filter((result) => result.law === law);
  return laws.every((law) => of(law).length >= runs) &&
    of("with").every((result) => verdictsOf(result).every(({ met }) => met)) &&
    (CROWD_ALGORITHMS.some((law) => !laws.includes(law)) || compareReplicas(results)?.met === true);
}

/** More than the cluster's own programs need: then others had a part in the figures. */
const MANY_CORES = 0.7;

const COLUMNS: readonly { readonly head: string; readonly text: (r: CrowdResult) => string }[] = [
  { head: "law", text: ({ law }) => law },
  { head: "seed", text: ({ seed }) => `${seed}` },
  { head: "s", text: ({ seconds }) => `${seconds}` },
  {
    head: "refused: foreseeable",
    text: (r) => `${r.writes.notAccepted.filter(({ kind }) => isForeseeable(kind)).length}`,
  },
  {
    head: "others",
    text: ({ writes: { notAccepted } }) =>
      `${notAccepted.filter(({ kind }) => isRefusal(kind) && !isForeseeable(kind)).length}`,
  },
  {
    head: "conflicts",
    text: ({ writes: { notAccepted } }) =>
      `${notAccepted.filter(({ kind }) => kind === "conflict").length}`,
  },
  { head: "replicas: median", text: ({ replicas }) => lateMedian(replicas).toFixed(1) },
  {
    head: "most",
    text: ({ replicas }) => `${Math.max(...replicas.map(({ wanted }) => wanted))}`,
  },
  { head: "pods refused", text: ({ notCreated }) => `${sum(notCreated)}` },
  { head: "throttled ms/s", text: ({ figures: f }) => f.throttledMsPerS.toFixed(1) },
  { head: "changes/min", text: ({ figures: f }) => f.changesPerMinute.toFixed(1) },
  { head: "cores", text: ({ figures: f }) => f.coresAllocated.toFixed(2) },
  { head: "used", text: ({ figures: f }) => f.coresUsed.toFixed(2) },
  { head: "others'", text: ({ figures: f }) => f.othersCores.toFixed(2) },
];

/** The report: figures of each run, its verdicts, and the server's refusals with their messages. */
export function crowdReport(results: readonly CrowdResult[]): string {
  const rows = [
    COLUMNS.map(({ head }) => head),
    ...results.map((result) => COLUMNS.map(({ text }) => text(result))),
  ];
  const details = results.flatMap((result) => ["", ...detailsOf(result)]);
  return [...table(rows), ...details, "", ...replicaLines(results)].join("\n").trimEnd();
}

function detailsOf(result: CrowdResult): string[] {
  const { law, seed, writes, notCreated, figures: { othersCores } } = result;
  const verdicts = verdictsOf(result).map(({ goal, met, found }) =>
    `  ${met ? "met   " : "NOT MET"} ${goal}: ${found}`
  );
  const refused = writes.notAccepted.filter(({ kind }) => isRefusal(kind)).map((each) =>
    `  at ${each.atS.toFixed(1)} s ${each.pod}: ${each.code} ${each.kind}: ${each.message}`
  );
  const list = (what: string, tallies: CrowdResult["notCreated"]): string[] =>
    tallies.length === 0
      ? []
      : [`  ${what}: ${tallies.map(({ what, count }) => `${count} ${what}`).join(", ")}`];
  const lost = writes.lostControllers;
  return [
    `${law}, seed ${seed}:`,
    ...verdicts,
    ...list("resizes by the audit log", writes.byKind),
    ...list("by the API server's counters", writes.byCode),
    ...list("writes, starting pods' too", writes.mutations ?? []),
    ...list("by the controllers' counters", writes.outcomes),
    ...list("throttled", writes.held),
    ...(lost === 0 ? [] : [`  ${lost} controllers ended meanwhile: their counts are lost`]),
    ...refused,
    ...list("events CPULimitFailed", writes.events),
    ...list("pods that could not be made", notCreated),
    `  ${workersLine(result)}`,
    ...(othersCores <= MANY_CORES ? [] : [
      `  other programs used ${othersCores.toFixed(2)} CPUs: play it again on a quiet machine`,
    ]),
  ];
}

/** Equal workers with equal loads should fare alike. */
function workersLine({ performers }: CrowdResult): string {
  const workers = performers.filter(({ name }) => name.startsWith("worker-"));
  const range = (values: readonly number[]): string =>
    `${Math.min(...values).toFixed(0)} to ${Math.max(...values).toFixed(0)}`;
  const median = quantile(workers.map(({ p99Ms }) => p99Ms), 0.5).toFixed(0);
  return `workers: throttled ${range(workers.map((each) => each.throttledMsPerS))} ms/s, limits ` +
    `${range(workers.map(({ meanLimit }) => meanLimit))} m in the mean, P99 ` +
    `${range(workers.map(({ p99Ms }) => p99Ms))} ms, ${median} in the median`;
}

function replicaLines(results: readonly CrowdResult[]): string[] {
  const replicas = compareReplicas(results);
  if (replicas === undefined) {
    const missing = CROWD_ALGORITHMS.filter((law) => results.every((each) => each.law !== law));
    return [`replicas can't be compared: no run ${missing.join(" or ")} the product`];
  }
  const { difference, met } = replicas;
  return [
    `replicas, mean of the runs' medians: ${replicas.with.toFixed(2)} with, ` +
    `${replicas.without.toFixed(2)} without; ${difference >= 0 ? "+" : ""}${
      difference.toFixed(2)
    }, ${met ? "within" : "NOT within"} ${REPLICAS_APART}`,
  ];
}

function sum(tallies: CrowdResult["notCreated"]): number {
  return tallies.reduce((total, { count }) => total + count, 0);
}

function table(rows: readonly (readonly string[])[]): string[] {
  const widths =
    rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  return rows.map((row) =>
    row.map((cell, column) => {
      const width = widths[column] ?? 0;
      return column === 0 ? cell.padEnd(width) : cell.padStart(width);
    }).join("  ")
  );
}
