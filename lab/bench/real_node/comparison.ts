/**
 * The algorithms' figures side by side, and the model's beside the real ones, as a table.
 *
 * @module
 */
import type { Figures } from "./figures.ts";
import type { AlgorithmName } from "./algorithms.ts";

/** An algorithm's figures on the real node, and on the model where it plays it. */
export interface ComparedAlgorithm {
  readonly algorithm: AlgorithmName;
  readonly real: Figures;
  readonly model?: Figures;
  /** CPUs that all other programs of the machine used meanwhile. */
  readonly othersCores: number;
  /** What stands behind the real throttled time, ms per s over all pods. */
  readonly accounts: ThrottledAccounts;
}

/** The kernel's count at each level, and the upper bound that the requests alone give. */
export interface ThrottledAccounts {
  readonly podLevel: number;
  readonly containerLevel: number;
  readonly standing: number;
}

/** More than the cluster's own programs need: then others had a part in the figures. */
const MANY_CORES = 0.6;

/** How far the model may be off, as a share of the real figure. */
export const TOLERANCE = 0.2;

/** What is foretold. */
export type Foretold = "throttledMsPerS" | "reactionMsMedian";
const FORETOLD: readonly Foretold[] = ["throttledMsPerS", "reactionMsMedian"];

/** The model's deviation from the real figure, as a share of that; undefined without both. */
export function deviation({ real, model }: ComparedAlgorithm, key: Foretold): number | undefined {
  const [truth, modelled] = [real[key], model?.[key]];
  if (truth === undefined || modelled === undefined) return undefined;
  return truth === 0 ? (modelled === 0 ? 0 : Infinity) : modelled / truth - 1;
}

const COLUMNS: readonly { readonly head: string; readonly text: (f: Figures) => string }[] = [
  { head: "reaction ms", text: ({ reactionMsMedian: ms }) => ms === undefined ? "-" : `${ms}` },
  { head: "p95", text: ({ reactionMsP95: ms }) => ms === undefined ? "-" : `${ms}` },
  {
    head: "bursts met/missed/all",
    text: ({ bursts, burstsMet, burstsMissed }) => `${burstsMet}/${burstsMissed}/${bursts}`,
  },
  { head: "throttled ms/s", text: ({ throttledMsPerS }) => throttledMsPerS.toFixed(1) },
  { head: "changes/pod min", text: ({ changesPerPodMinute }) => changesPerPodMinute.toFixed(2) },
  { head: "P50 ms", text: ({ p50Ms }) => p50Ms.toFixed(0) },
  { head: "P99 ms", text: ({ p99Ms }) => p99Ms.toFixed(0) },
  { head: "cores", text: ({ coresAllocated }) => coresAllocated.toFixed(2) },
  { head: "used", text: ({ coresUsed }) => coresUsed.toFixed(2) },
  { head: "completed", text: ({ completed }) => `${completed}` },
];

/** The report for people. */
export function comparisonTable(algorithms: readonly ComparedAlgorithm[]): string {
  const rows = algorithms.flatMap(({ algorithm, real, model }) => [
    [algorithm, "real", ...COLUMNS.map(({ text }) => text(real))],
    ...model === undefined ? [] : [["", "model", ...COLUMNS.map(({ text }) => text(model))]],
  ]);
  const all = [["algorithm", "node", ...COLUMNS.map(({ head }) => head)], ...rows];
  const widths =
    all[0]?.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0))) ?? [];
  const table = all.map((row) =>
    row.map((cell, column) =>
      column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)
    ).join("  ").trimEnd()
  );
  const verdicts = algorithms.flatMap((one) =>
    FORETOLD.flatMap((key) => {
      const off = deviation(one, key);
      if (off === undefined) return [];
      const what = key === "throttledMsPerS" ? "throttled time" : "median reaction";
      const share = `${off >= 0 ? "+" : ""}${(100 * off).toFixed(0)} %`;
      const verdict = Math.abs(off) <= TOLERANCE ? "within" : "outside";
      return [`${one.algorithm}: the model's ${what} is off by ${share}, ${verdict} 20 %`];
    })
  );
  const disturbed = algorithms.flatMap(({ algorithm, othersCores }) => {
    if (othersCores <= MANY_CORES) return [];
    const used = `${othersCores.toFixed(2)} CPUs`;
    return [`${algorithm}: other programs used ${used}: play it again on a quiet machine`];
  });
  const accounts = algorithms.map((
    { algorithm, accounts: { podLevel, containerLevel, standing } },
  ) =>
    `${algorithm}: the kernel counts ${podLevel.toFixed(1)} ms/s at the pods' level and ` +
    `${containerLevel.toFixed(1)} at the containers'; threads with work stood still for ` +
    `${standing.toFixed(1)}, waiting for a CPU included`
  );
  return [...table, "", ...accounts, "", ...verdicts, ...disturbed].join("\n");
}
