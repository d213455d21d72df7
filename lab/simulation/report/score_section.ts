/**
 * The table of scores: a row per measure, a column per algorithm, so that it fits a phone.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { type Html, html } from "./html.ts";
import { NO_FIGURE } from "./figure.ts";
import { tallyPods, tallyText } from "./pod_tally.ts";
import { isBest, SCORE_MEASURES } from "./score_measures.ts";

/** The table, and what each algorithm does. */
export function scoreSection(runs: readonly RunRecord[]): Html {
  const heads = runs.map((run) => html`<th scope="col">${run.algorithm}</th>`);
  const rows = SCORE_MEASURES.map((measure) => {
    const cells = runs.map((run) => {
      const best = isBest(measure, run, { runs }) ? trustedBest : html``;
      return html`<td${best}>${measure.text(run)}</td>`;
    });
    return html`<tr><th scope="row">${measure.name} <span class="unit">${measure.unit}</span><small>${measure.meaning}</small></th>${cells}</tr>`;
  });
  const algorithms = runs.map((run) =>
    html`
      <div>
        <dt>${run.algorithm}</dt>
        <dd>${run.description}</dd>
      </div>
    `
  );
  return html`
    <section>
      <h2>Scores</h2>
      <div class="scroll">
        <table class="scores">
          <thead>
            <tr><th scope="col">Measure</th>${heads}</tr>
          </thead>
          <tbody>${rows}${tallyRow(runs)}</tbody>
        </table>
      </div>
      <p class="caption">Bold: the best of its row, where one direction is better.</p>
      <dl class="algorithms">${algorithms}</dl>
    </section>
  `;
}

/** The first algorithm pod by pod against each of the others. */
function tallyRow(runs: readonly RunRecord[]): Html {
  const [ours, ...others] = runs;
  if (ours === undefined || others.length === 0) return html``;
  const cells = others.map((run) => html`<td>${tallyText(tallyPods(ours, run))}</td>`);
  return html`<tr><th scope="row">Pods throttled less / more <span class="unit">pods</span><small>how many pods ${ours.algorithm} throttled less, and how many more, than the algorithm of the column</small></th><td>${NO_FIGURE}</td>${cells}</tr>`;
}

const trustedBest: Html = { markup: ' class="best"' };
