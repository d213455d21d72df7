/**
 * Every change of a limit with its reason, folded away until it is wanted.
 *
 * @module
 */
import { MARKET_REASONS, type MarketReason } from "../../../shared/api/reasons/market_reasons.ts";
import type { LimitChangeRecord, PodRecord, RunRecord } from "../run_record.ts";
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

/** One pod under the first run and under its reference. */
export interface PodRow {
  readonly ours: PodRecord;
  /** The same pod, by name, under the reference run. */
  readonly theirs?: PodRecord;
  /** How many of its changes had which reason, most frequent first. */
  readonly reasons: readonly (readonly [MarketReason, number])[];
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

/**
 * A row per pod of the first run; those that the reference throttled most come first, ties in the
 * order of the record.
 */
export function podRows(runs: readonly RunRecord[]): PodRow[] {
  const ours = runs[0];
  if (ours === undefined) return [];
  const theirs = new Map(runs[1]?.pods.map((pod) => [pod.name, pod]));
  const changes = Map.groupBy(ours.changes, (change) => change.pod);
  const rows = ours.pods.map((pod): PodRow => {
    const other = theirs.get(pod.name);
    const reasons = countReasons(changes.get(pod.name) ?? []);
    return other === undefined ? { ours: pod, reasons } : { ours: pod, theirs: other, reasons };
  });
  const suffering = (row: PodRow): number => (row.theirs ?? row.ours).throttledMsPerS;
  return rows.sort((a, b) => suffering(b) - suffering(a));
}

/** Counts of the pods, joined by name, that were throttled less, more, and as much. */
export interface PodTally {
  readonly less: number;
  readonly more: number;
  /** Their figures read the same. */
  readonly same: number;
}

/** The pods of the first run beside the same pods under the other run. */
export function tallyPods(ours: RunRecord, theirs: RunRecord): PodTally {
  const others = new Map(theirs.pods.map((pod) => [pod.name, pod.throttledMsPerS]));
  const tally = { less: 0, more: 0, same: 0 };
  for (const { name, throttledMsPerS: mine } of ours.pods) {
    const other = others.get(name);
    if (other === undefined) continue;
    if (formatFigure(mine) === formatFigure(other)) tally.same++;
    else if (mine < other) tally.less++;
    else tally.more++;
  }
  return tally;
}

/**
 * `11 of 20 pods were throttled less than with limits at equal sum, 9 more.` Those with the same
 * figure are named if there are any. Absent without another run that has the same pods.
 */
export function tallySentence(runs: readonly RunRecord[]): string | undefined {
  const ours = runs[0];
  const theirs = runs[1];
  if (ours === undefined || theirs === undefined) return undefined;
  const { less, more, same } = tallyPods(ours, theirs);
  const all = less + more + same;
  if (all === 0) return undefined;
  const rest = same === 0 ? `${more} more` : `${more} more, ${same} as much`;
  const were = less === 1 ? "was" : "were";
  return `${less} of ${
    formatCount(all, "pod")
  } ${were} throttled less than with ${theirs.algorithm}, ${rest}.`;
}

/** `11 / 9`, or `11 / 6, 3 as much`. */
export function tallyText({ less, more, same }: PodTally): string {
  return same === 0 ? `${less} / ${more}` : `${less} / ${more}, ${same} as much`;
}
