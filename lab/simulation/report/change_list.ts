/**
 * Every change of a limit with its reason, folded away until it is wanted.
 *
 * @module
 */
import { MARKET_REASONS, type MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import type { LimitChangeRecord, RunRecord } from "../run_record.ts";
import { formatCount, formatFigure, formatTime } from "./figure.ts";
import { type Html, html } from "./html.ts";

/** Rows at most: some 140 bytes each, so the page stays below 2 MB. */
const MOST_CHANGES = 4000;
const MILLICORES = 1000;

/** The reasons with their counts and meaning, and the changes of the run, oldest first. */
export function changeList(run: RunRecord): Html {
  const title = html`<h2>Why limits changed under ${run.algorithm}</h2>`;
  const { changes } = run;
  if (changes.length === 0) {
    return html`<section>${title}<p class="nothing">No limit was changed.</p></section>`;
  }
  const shown = changes.slice(-MOST_CHANGES);
  const summary = shown.length < changes.length
    ? `The last ${shown.length} of ${changes.length} changes`
    : changes.length === 1
    ? "The one change"
    : `All ${formatCount(changes.length, "change")}`;
  const reasons = countReasons(changes).map(([reason, count]) =>
    html`
      <tr>
        <td>${count}</td>
        <th scope="row">${reason}</th>
        <td class="text">${MARKET_REASONS[reason].means}</td>
      </tr>
    `
  );
  return html`<section>${title}<div class="scroll"><table class="reasons"><thead><tr><th scope="col">Changes</th><th scope="col">Reason</th><th scope="col">What it means</th></tr></thead><tbody>${reasons}</tbody></table></div><details><summary>${summary}, with time, pod, limit, reason and price</summary><div class="scroll"><table class="changes"><thead><tr><th scope="col">Time, m:s</th><th scope="col">Pod</th><th scope="col">From, m</th><th scope="col">To, m</th><th scope="col">Reason</th><th scope="col">Price, 1/core</th></tr></thead><tbody>${
    shown.map(rowOf)
  }</tbody></table></div></details></section>`;
}

function rowOf(change: LimitChangeRecord): Html {
  const price = change.price === undefined ? "∞" : formatFigure(change.price * MILLICORES);
  return html`
    <tr>
      <td>${formatTime(change.atS)}<td>${change.pod}<td>${change.from}<td>${change.to}<td>${change
        .reason ?? "–"}<td>${price}
  `;
}

/** Counts of the reasons among changes, most frequent first, ties in the order of the list. */
function countReasons(
  changes: readonly LimitChangeRecord[],
): (readonly [MarketReason, number])[] {
  const counts = new Map<MarketReason, number>();
  for (const { reason } of changes) {
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const order = Object.keys(MARKET_REASONS);
  return [...counts].sort(([a, m], [b, n]) => n - m || order.indexOf(a) - order.indexOf(b));
}
