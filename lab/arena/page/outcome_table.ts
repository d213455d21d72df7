/**
 * The figures behind the plots of a stage: every algorithm with every setting.
 *
 * @module
 */
import { formatCount, formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html, trusted } from "../../simulation/report/html.ts";
import { type AlgorithmOutcome, bestPerAlgorithm, COALLOCATOR, isSameEntry } from "../outcome.ts";
import { type OutcomeColumn, outcomeColumns } from "../outcome_columns.ts";
import type { StageResult } from "../stages.ts";

const BEST = trusted(' class="best"');
const NOT_BEST = trusted("");

/** The best setting of each algorithm in sight, all settings folded away. */
export function outcomeTables(result: StageResult): Html {
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
