/**
 * One stage of the arena: its findings, its figures and its tables.
 *
 * @module
 */
import { formatCount, formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html } from "../../simulation/report/html.ts";
import { coresPlot } from "../../simulation/report/plots/cores_plot.ts";
import { limitsPlot } from "../../simulation/report/plots/limits_plot.ts";
import type { RunRecord } from "../../simulation/run_record.ts";
import {
  type AlgorithmOutcome,
  bestSetting,
  COALLOCATOR,
  COALLOCATOR_TIGHT,
  type Entry,
  isRival,
  isSameEntry,
  ORACLE,
} from "../outcome.ts";
import type { StageResult } from "../stages.ts";
import { scaleSentence } from "./arena_method.ts";
import { entryName } from "./algorithm_note.ts";
import { outcomeTables } from "./outcome_table.ts";

const KINDS: Readonly<Record<StageResult["kind"], string>> = {
  trace: "Trace",
  bursts: "Bursts",
  steps: "Steps",
  "shared node": "Shared node",
  services: "Services",
};

/** The title of a stage, as in headings and links. */
export function stageTitle({ kind, name }: StageResult): string {
  return kind === name ? KINDS[kind] : `${KINDS[kind]}: ${name}`;
}

/** The whole stage. `id` is the target of links to it. */
export function stageSection(result: StageResult, id: string): Html {
  const { kind, name, minutes, seeds, sloMs } = result;
  const runs = stageRecords(result);
  const scale = kind === "trace" ? ` Demand: ${scaleSentence(result)}` : "";
  return html`
    <section id="${id}" style="border-top:1px solid var(--axis);padding-top:28px">
      <h2 style="font-size:1.5rem">${stageTitle(result)}</h2>
      <p class="scale">${formatCount(minutes, "minute")}, medians over ${formatCount(
        seeds,
        "seed",
      )}; SLO: P99 within ${formatFigure(sloMs)} ms.${scale}</p>
      <p class="tally">${findings(result)}</p>
      ${outcomeTables(result)}
      ${// Several pods want more than there is: capacity says more there than the sum of requests.
      (kind === "shared node" || kind === "services") && runs.length > 0
        ? coresPlot(runs)
        : limitsPlot(
          runs.filter(({ algorithm }) => algorithm !== COALLOCATOR.algorithm),
          `${name}: limit against demand`,
        )}
    </section>
  `;
}

/**
 * The runs that are drawn over time, as far as there are series: CoAllocator, also where limits follow
 * demand, the best rival and the oracle, named as in the tables.
 */
export function stageRecords({ outcomes, records }: StageResult): RunRecord[] {
  const rival: Entry | undefined = bestSetting(outcomes.filter(isRival));
  return [COALLOCATOR, COALLOCATOR_TIGHT, ...(rival === undefined ? [] : [rival]), ORACLE].flatMap(
    (entry) => {
      // A record holds the setting where a report has a description.
      const record = records.find(({ algorithm, description }) =>
        algorithm === entry.algorithm && description === entry.setting
      );
      return record === undefined ? [] : [{ ...record, algorithm: entryName(entry) }];
    },
  );
}

/** Cores and P99 of CoAllocator, of the best rival and of the oracle. */
function findings({ outcomes }: StageResult): string {
  const ours = outcomes.find((one) => isSameEntry(one, COALLOCATOR));
  const rival = bestSetting(outcomes.filter(isRival));
  const oracle = outcomes.find((one) => isSameEntry(one, ORACLE));
  const named: (readonly [string, AlgorithmOutcome | undefined])[] = [
    ["CoAllocator", ours],
    [rival === undefined ? "" : `The best rival (${entryName(rival)})`, rival],
    ["The oracle", oracle],
  ];
  return named.flatMap(([name, outcome]) => {
    if (outcome === undefined) return [];
    const { median: { coresAllocated, p99Ms }, sloHeld } = outcome;
    return [
      `${name}: ${formatFigure(coresAllocated)} cores, P99 ${formatFigure(p99Ms)} ms, SLO ${
        sloHeld ? "held" : "missed"
      }.`,
    ];
  }).join(" ");
}
