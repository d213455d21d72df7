/**
 * The report page: a finding, then tables and plots from the whole to the single change.
 *
 * @module
 */
import type { LimitChangeRecord, RunRecord } from "../run_record.ts";
import { type Html, html } from "./html.ts";
import { methodNote, type ReportScene } from "./method_note.ts";
import { algorithmNotes, page } from "./page.ts";
import { podMultiples } from "./plots/pod_multiples.ts";
import { describeScale, isBest, SCORE_MEASURES } from "./score_measures.ts";
import { formatCores, formatCount, formatFigure, formatTime } from "./figure.ts";
import { coresPlot, throttlingPlot } from "./plots/time_plots.ts";
import { MARKET_REASONS, type MarketReason } from "../../../shared/api/reasons/market_reasons.ts";

/**
 * One self-contained HTML page about the runs of one scene, of which the first is ours and the
 * others are static algorithms. Throws a `RangeError` without any run.
 */
export function renderReport(
  runs: readonly RunRecord[],
  { scene }: { readonly scene: ReportScene },
): string {
  const [ours, theirs] = runs;
  if (ours === undefined) {
    throw new RangeError("Cannot render a report: runs is empty, expected at least one run");
  }
  const scale = describeScale(ours);
  const sentence = theirs && tallySentence(ours, theirs);
  const tally = sentence === undefined ? html`` : html`<p class="tally">${sentence}</p>`;
  const tiles = keyFigures(ours, theirs).map(({ name, value, beside }) =>
    html`
      <div>
        <dt>${name}</dt>
        <dd class="value">${value}</dd>
        <dd class="beside">${beside}</dd>
      </div>
    `
  );
  return page(
    `CoAllocator: ${scale}`,
    html`
      <header>
        <p class="scale">CoAllocator · ${scale}</p>
        <h1>${headline(ours, theirs)}</h1>
        ${tally}
        <p
          class="scale">Throttled: milliseconds per second in which threads could have run but their limits held them back, summed over all threads.</p>
        <dl class="tiles">${tiles}</dl>
      </header>
      <main>
      ${scoreSection(runs)}
      ${coresPlot(runs)}
      ${throttlingPlot(runs)}
      ${podMultiples(runs)}
      ${changeList(ours)}
      ${methodNote(ours, scene)}
      </main>
    `,
  );
}

function scoreSection(runs: readonly RunRecord[]): Html {
  const heads = runs.map((run) => html`<th scope="col">${run.algorithm}</th>`);
  const rows = SCORE_MEASURES.map((measure) => {
    const cells = runs.map((run) => {
      const best = isBest(measure, run, { runs }) ? trustedBest : html``;
      return html`<td${best}>${measure.text(run)}</td>`;
    });
    return html`<tr><th scope="row">${measure.name} <span class="unit">${measure.unit}</span><small>${measure.meaning}</small></th>${cells}</tr>`;
  });
  const notes = runs.map(({ algorithm, description }) => [algorithm, description] as const);
  return html`
    <section>
      <h2>Scores</h2>
      <div class="scroll">
        <table class="scores">
          <thead>
            <tr><th scope="col">Measure</th>${heads}</tr>
          </thead>
          <tbody>${rows}</tbody>
        </table>
      </div>
      <p class="caption">Bold: the best of its row, where one direction is better.</p>
      ${algorithmNotes(notes)}
    </section>
  `;
}

const trustedBest: Html = { markup: ' class="best"' };

/** One sentence about throttling in a run against another. */
export function headline(ours: RunRecord, theirs?: RunRecord): string {
  const pods = formatCount(ours.pods.length, "pod");
  const scale = `In ${formatCount(ours.minutes, "minute")}, ${pods} on ` +
    `${formatCores(ours.nodeCPU)} cores were throttled`;
  const got = formatFigure(ours.scores.throttledMsPerS);
  if (theirs === undefined) return `${scale} ${got} ms/s; no other algorithm was run beside it.`;
  const other = formatFigure(theirs.scores.throttledMsPerS);
  const under = `with ${theirs.algorithm}`;
  if (got === other) return `${scale} ${got} ms/s, as much as ${under}.`;
  return ours.scores.throttledMsPerS < theirs.scores.throttledMsPerS
    ? `${scale} ${got} ms/s instead of ${other} ms/s ${under}.`
    : `${scale} ${got} ms/s, more than the ${other} ms/s ${under}.`;
}

/** One of the few figures beneath the headline. */
export interface KeyFigure {
  readonly name: string;
  /** With its unit. */
  readonly value: string;
  /** The reference's value. */
  readonly beside: string;
}

/** Throttling, tail latency, cost and reaction of a run, each beside its reference. */
export function keyFigures(ours: RunRecord, theirs?: RunRecord): KeyFigure[] {
  const beside = (value: (run: RunRecord) => number, unit: string): string =>
    theirs === undefined
      ? "no other algorithm to compare with"
      : `${formatFigure(value(theirs))} ${unit} with ${theirs.algorithm}`;
  const { scores } = ours;
  return [
    {
      name: "Throttled, all pods",
      value: `${formatFigure(scores.throttledMsPerS)} ms/s`,
      beside: beside((run) => run.scores.throttledMsPerS, "ms/s"),
    },
    {
      name: "P99 latency",
      value: `${formatFigure(scores.p99Ms)} ms`,
      beside: beside((run) => run.scores.p99Ms, "ms"),
    },
    {
      name: "Cores allocated, mean",
      value: formatFigure(scores.coresAllocated),
      beside: beside((run) => run.scores.coresAllocated, "cores"),
    },
    {
      name: "Burst to raised limit, median",
      value: scores.reactionMsMedian === undefined
        ? "none"
        : `${formatFigure(scores.reactionMsMedian)} ms`,
      beside: scores.bursts === 0
        ? "none needed: no burst exceeded a limit"
        : `${formatCount(scores.bursts, "burst")}, ${scores.burstsMissed} missed`,
    },
  ];
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
 * figure are named if there are any. Absent where the other run does not have the same pods.
 */
export function tallySentence(ours: RunRecord, theirs: RunRecord): string | undefined {
  const { less, more, same } = tallyPods(ours, theirs);
  const all = less + more + same;
  if (all === 0) return undefined;
  const rest = same === 0 ? `${more} more` : `${more} more, ${same} as much`;
  const were = less === 1 ? "was" : "were";
  const pods = formatCount(all, "pod");
  return `${less} of ${pods} ${were} throttled less than with ${theirs.algorithm}, ${rest}.`;
}

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
function countReasons(changes: readonly LimitChangeRecord[]): (readonly [MarketReason, number])[] {
  const counts = new Map<MarketReason, number>();
  for (const { reason } of changes) {
    if (reason !== undefined) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  }
  const order = Object.keys(MARKET_REASONS);
  return [...counts].sort(([a, m], [b, n]) => n - m || order.indexOf(a) - order.indexOf(b));
}
