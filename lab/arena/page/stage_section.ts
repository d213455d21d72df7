/**
 * One stage of the arena: its findings, its figures and its tables.
 *
 * @module
 */
import { formatCount, formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html } from "../../simulation/report/html.ts";
import { coresPlot } from "../../simulation/report/plots/cores_plot.ts";
import { limitsPlot } from "../../simulation/report/plots/limits_plot.ts";
import {
  type AlgorithmOutcome,
  bestSetting,
  isRival,
  isSameEntry,
  ORACLE,
  OURS,
} from "../outcome.ts";
import type { StageResult } from "../stages.ts";
import { scaleSentence } from "./arena_method.ts";
import { entryName } from "./algorithm_look.ts";
import { outcomeTables } from "./outcome_table.ts";
import { type StageFigureOptions, stageFigures } from "./stage_figures.ts";
import { stageRecords } from "./stage_records.ts";
import { tradeOffPlot } from "./trade_off_plot.ts";

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
export function stageSection(
  result: StageResult,
  { id, ...options }: StageFigureOptions & { readonly id: string },
): Html {
  const { kind, name, minutes, seeds, sloMs } = result;
  const runs = stageRecords(result);
  const scale = kind === "trace" ? ` Demand: ${scaleSentence(result)}` : "";
  // Beside each other where there is room for two.
  const grid = "display:grid;gap:0 40px;" +
    "grid-template-columns:repeat(auto-fit,minmax(min(100%,440px),1fr))";
  return html`
    <section id="${id}" style="border-top:1px solid var(--axis);padding-top:28px">
      <h2 style="font-size:1.5rem">${stageTitle(result)}</h2>
      <p class="scale">${formatCount(minutes, "minute")}, medians over ${formatCount(
        seeds,
        "seed",
      )}; SLO: P99 within ${formatFigure(sloMs)} ms.${scale}</p>
      <p class="tally">${findings(result)}</p>
      ${outcomeTables(result)}
      ${tradeOffPlot(result, options.lookOf)}
      ${// Several pods want more than there is: capacity says more there than the sum of requests.
      (kind === "shared node" || kind === "services") && runs.length > 0
        ? coresPlot(runs)
        : limitsPlot(
          runs.filter(({ algorithm }) => algorithm !== OURS.algorithm),
          `${name}: limit against demand`,
        )}
      <div style="${grid}">${stageFigures(result, options)}</div>
    </section>
  `;
}

/** Cores and P99 of ours, of the best rival and of the oracle. */
function findings({ outcomes }: StageResult): string {
  const ours = outcomes.find((one) => isSameEntry(one, OURS));
  const rival = bestSetting(outcomes.filter(isRival));
  const oracle = outcomes.find((one) => isSameEntry(one, ORACLE));
  const named: (readonly [string, AlgorithmOutcome | undefined])[] = [
    ["Ours", ours],
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
