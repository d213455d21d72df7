/**
 * The figures behind the plots of a stage: every law with every setting.
 *
 * @module
 */
import { formatCount, formatFigure, NO_FIGURE } from "../../report/figure.ts";
import { type Html, html, trusted } from "../../report/html.ts";
import { isSameEntry, OURS } from "../entry.ts";
import { bestPerLaw, type Figures, type LawOutcome } from "../law_outcome.ts";
import type { StageResult } from "../stage_result.ts";

interface Column {
  readonly head: string;
  readonly text: (outcome: LawOutcome) => string;
  /** Left out where no law has this figure: scenes without bursts have no reaction. */
  readonly score: keyof Figures;
}

const COLUMNS: readonly Column[] = [
  {
    head: "Cores",
    score: "coresAllocated",
    text: ({ median, least, most }) => {
      const [low, high] = [least, most].map((of) => formatFigure(of.coresAllocated));
      const own = formatFigure(median.coresAllocated);
      return low === high ? own : `${own} (${low} – ${high})`;
    },
  },
  { head: "Slack", score: "slack", text: ({ median }) => percent(median.slack) },
  figure("P50, ms", "p50Ms"),
  figure("P99, ms", "p99Ms"),
  figure("P99.9, ms", "p999Ms"),
  figure("Throttled, ms/s", "throttledMsPerS"),
  figure("Changes per pod and min", "changesPerPodMinute"),
  figure("Reaction, median, ms", "reactionMsMedian"),
  figure("Reaction, P95, ms", "reactionMsP95"),
  figure("Drained, median, s", "drainSMedian"),
  figure("Converged, worst, s", "convergeS"),
];
/** On a node with one pod they say the same of every law. */
const SHARED_COLUMNS: readonly Column[] = [
  { head: "Jain", score: "jain", text: ({ median }) => median.jain?.toFixed(4) ?? NO_FIGURE },
  { head: "Envy", score: "envy", text: ({ median }) => percent(median.envy) },
];
const LAST_COLUMN = figure("Beyond capacity, s", "overCapacityS");
const BEST = trusted(' class="best"');
const NOT_BEST = trusted("");

function figure(head: string, score: keyof Figures): Column {
  return { head, score, text: ({ median }) => formatFigure(median[score]) };
}

function percent(share: number | undefined): string {
  return share === undefined ? NO_FIGURE : `${(100 * share).toFixed(1)} %`;
}

/** The best setting of each law in sight, all settings folded away. */
export function outcomeTables(result: StageResult): Html {
  const { name, outcomes } = result;
  const best = bestPerLaw(outcomes);
  return html`
    ${table(best, { result, label: `${name}: the best setting of each law` })}
    <details>
      <summary>All ${formatCount(outcomes.length, "setting")} on ${name} as a table</summary>
      ${table(outcomes, { result, label: `${name}: every setting of every law` })}
    </details>
  `;
}

function table(
  outcomes: readonly LawOutcome[],
  { result, label }: { readonly result: StageResult; readonly label: string },
): Html {
  const shared = result.kind === "shared node" ? SHARED_COLUMNS : [];
  const columns = [...COLUMNS, ...shared, LAST_COLUMN].filter(({ score }) =>
    outcomes.some(({ median }) => median[score] !== undefined)
  );
  const best = new Set(bestPerLaw(result.outcomes));
  const heads = columns.map(({ head }) => html`<th scope="col">${head}</th>`);
  const rows = outcomes.map((outcome) => {
    // Where all rows are the best of their law, bold says nothing: there it marks ours.
    const isBold = outcomes.length === best.size ? isSameEntry(outcome, OURS) : best.has(outcome);
    const cells = columns.map(({ text }) =>
      html`<td${isBold ? BEST : NOT_BEST}>${text(outcome)}</td>`
    );
    return html`<tr><th scope="row">${outcome.law}</th><td class="word">${outcome.setting}</td><td>${
      heldText(outcome)
    }</td>${cells}</tr>`;
  });
  return html`
    <div class="scroll" tabindex="0" role="region" aria-label="${label}">
      <table class="outcomes" style="width:100%;font-size:.82rem">
        <thead>
          <tr>
            <th scope="col">Law</th>
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

/** Held or missed, and by how many seeds where they disagree. */
function heldText({ sloHeld, sloHeldShare }: LawOutcome): string {
  const word = sloHeld ? "held" : "missed";
  const isSplit = sloHeldShare > 0 && sloHeldShare < 1;
  return isSplit ? `${word} (${Math.round(100 * sloHeldShare)} % of seeds held it)` : word;
}
