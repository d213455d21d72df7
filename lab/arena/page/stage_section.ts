/**
 * One stage of the arena: its findings, its figures, and every algorithm with every setting.
 *
 * @module
 */
import { formatCount, formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html, trusted } from "../../simulation/report/html.ts";
import { coresPlot } from "../../simulation/report/plots/cores_plot.ts";
import { limitsPlot } from "../../simulation/report/plots/limits_plot.ts";
import type { RunRecord } from "../../simulation/run_record.ts";
import {
  type AlgorithmOutcome,
  bestPerAlgorithm,
  bestSetting,
  COALLOCATOR,
  COALLOCATOR_TIGHT,
  type Entry,
  isRival,
  isSameEntry,
  ORACLE,
} from "../outcome.ts";
import { type OutcomeColumn, outcomeColumns } from "../outcome_columns.ts";
import type { StageResult } from "../stages.ts";
import { entryName, scaleSentence } from "./arena_method.ts";

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

const BEST = trusted(' class="best"');
const NOT_BEST = trusted("");

/** The best setting of each algorithm in sight, all settings folded away. */
function outcomeTables(result: StageResult): Html {
  const { name, outcomes } = result;
  const best = bestPerAlgorithm(outcomes);
  return html`
    ${table(best, { result, label: `${name}: the best setting of each algorithm` })}
    <details>
      <summary>All ${formatCount(outcomes.length, "setting")} on ${name} as a table</summary>
      ${table(outcomes, { result, label: `${name}: every setting of every algorithm` })}
    </details>
  `;
}

function table(
  outcomes: readonly AlgorithmOutcome[],
  { result, label }: { readonly result: StageResult; readonly label: string },
): Html {
  const columns = outcomeColumns(outcomes, result);
  const best = new Set(bestPerAlgorithm(result.outcomes));
  const heads = columns.map(({ head }) => html`<th scope="col">${headText(head)}</th>`);
  const rows = outcomes.map((outcome) => {
    // Where all rows are the best of their algorithm, bold says nothing: there it marks CoAllocator.
    const isBold = outcomes.length === best.size
      ? isSameEntry(outcome, COALLOCATOR)
      : best.has(outcome);
    const cells = columns.map((column) =>
      html`<td${isBold ? BEST : NOT_BEST}>${cellText(outcome, column)}</td>`
    );
    return html`<tr><th scope="row">${outcome.algorithm}</th><td class="text">${outcome.setting}</td><td>${
      heldText(outcome)
    }</td>${cells}</tr>`;
  });
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="outcomes" style="width:100%;font-size:.82rem">
        <thead>
          <tr>
            <th scope="col">Algorithm</th>
            <th scope="col" style="text-align:left">Setting</th>
            <th scope="col">SLO</th>
            ${heads}
          </tr>
        </thead>
        <tbody style="white-space:nowrap">${rows}</tbody>
      </table>
    </div>
  `;
}

/** In one line: `Reaction, median, ms`. */
function headText(head: OutcomeColumn["head"]): string {
  const line = head.filter((part) => part !== "").join(", ");
  return `${line.charAt(0).toUpperCase()}${line.slice(1)}`;
}

/** The median; of cores the spread over the seeds too. */
function cellText(
  { median, least, most }: AlgorithmOutcome,
  { score, text }: OutcomeColumn,
): string {
  if (score !== "coresAllocated") return text(median);
  const [low, high] = [least, most].map((of) => formatFigure(of.coresAllocated));
  return low === high ? text(median) : `${text(median)} (${low} – ${high})`;
}

/** Held or missed, and by how many seeds where they disagree. */
function heldText({ sloHeld, sloHeldShare }: AlgorithmOutcome): string {
  const verdict = sloHeld ? "held" : "missed";
  const isSplit = sloHeldShare > 0 && sloHeldShare < 1;
  return isSplit ? `${verdict} (${Math.round(100 * sloHeldShare)} % of seeds held it)` : verdict;
}
