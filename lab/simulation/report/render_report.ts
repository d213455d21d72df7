/**
 * The report page: a finding, then tables and plots from the whole to the single change.
 *
 * @module
 */
import type { PodRecord, RunRecord } from "../run_record.ts";
import {
  changeList,
  type PodRow,
  podRows,
  tallyPods,
  tallySentence,
  tallyText,
} from "./change_list.ts";
import { type Html, html } from "./html.ts";
import { methodNote, type ReportScene } from "./method_note.ts";
import { page } from "./page.ts";
import { podMultiples } from "./plots/pod_multiples.ts";
import { describeScale, isBest, SCORE_MEASURES } from "./score_measures.ts";
import { formatCores, formatCount, formatFigure, formatMillicores, NO_FIGURE } from "./figure.ts";
import { coresPlot, throttlingPlot } from "./plots/time_plots.ts";

/**
 * One self-contained HTML page about the runs of one scene, of which the first is ours and the
 * others are static algorithms. Throws a `RangeError` without any run.
 */
export function renderReport(
  runs: readonly RunRecord[],
  { scene }: { readonly scene: ReportScene },
): string {
  const ours = runs[0];
  if (ours === undefined) {
    throw new RangeError("Cannot render a report: runs is empty, expected at least one run");
  }
  const scale = describeScale(ours);
  const sentence = tallySentence(runs);
  const tally = sentence === undefined ? html`` : html`<p class="tally">${sentence}</p>`;
  const tiles = keyFigures(runs).map(({ name, value, beside }) =>
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
        <h1>${headline(runs)}</h1>
        ${tally}
        <p
          class="scale">Throttled: milliseconds per second in which pods could have run but their limits held them back, summed over the pods.</p>
        <dl class="tiles">${tiles}</dl>
      </header>
      <main>
      ${scoreSection(runs)}
      ${coresPlot(runs)}
      ${throttlingPlot(runs)}
      ${podMultiples(runs)}
      ${podTable(runs)}
      ${changeList(ours)}
      ${methodNote(ours, scene)}
      </main>
    `,
  );
}

/** The table, and what each algorithm does. */
function scoreSection(runs: readonly RunRecord[]): Html {
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

/** The table of all pods. */
function podTable(runs: readonly RunRecord[]): Html {
  const ours = runs[0]?.algorithm ?? "";
  const theirs = runs[1]?.algorithm ?? "static";
  const head = html`
    <thead>
      <tr>
        <th rowspan="2" scope="col">Pod</th>
        <th rowspan="2" scope="col">Trace</th>
        <th rowspan="2" scope="col">Weight</th>
        <th colspan="4" scope="colgroup">CPU, millicores</th>
        <th colspan="2" scope="colgroup">Throttled, ms/s</th>
        <th colspan="2" scope="colgroup">P99, ms</th>
        <th colspan="2" scope="colgroup">Changes of the limit</th>
      </tr>
      <tr>
        <th scope="col">request</th>
        <th scope="col">original limit</th>
        <th scope="col">mean limit</th>
        <th scope="col">mean usage</th>
        <th scope="col">${ours}</th>
        <th scope="col">${theirs}</th>
        <th scope="col">${ours}</th>
        <th scope="col">${theirs}</th>
        <th scope="col">count</th>
        <th scope="col">reasons</th>
      </tr>
    </thead>
  `;
  return html`
    <section>
      <h2>The allocation of each pod, and why</h2>
      <div class="scroll">
        <table class="pods">${head}<tbody>${podRows(runs).map(rowOf)}</tbody></table>
      </div>
      <p
        class="caption">Mean limit and usage under ${ours}. “${theirs}” is the static algorithm with the mean Σ of limits nearest to ours.</p>
    </section>
  `;
}

function rowOf({ ours, theirs, reasons }: PodRow): Html {
  const why = reasons.map(([reason, count]) => `${reason}\u00a0${count}`).join(", ") || NO_FIGURE;
  return html`
    <tr>
      <th scope="row">${ours.name}</th>
      <td class="text">${ours.trace}</td>
      <td>${Number(ours.weight.toFixed(2))}</td>
      <td>${formatMillicores(ours.request)}</td>
      <td>${formatMillicores(ours.originalLimit)}</td>
      <td>${formatMillicores(ours.meanLimit)}</td>
      <td>${formatMillicores(ours.meanUsage)}</td>
      <td class="coallocator">${formatFigure(ours.throttledMsPerS)}</td>
      <td>${formatFigure(theirs?.throttledMsPerS)}</td>
      <td class="coallocator">${p99(ours)}</td>
      <td>${p99(theirs)}</td>
      <td>${ours.changes}</td>
      <td class="text why">${why}</td>
    </tr>
  `;
}

/** A pod without requests has no latency. */
function p99(pod: PodRecord | undefined): string {
  return pod === undefined || pod.requests === 0 ? NO_FIGURE : formatFigure(pod.p99Ms);
}

/**
 * One sentence about throttling in the first run against the second. Throws a
 * `RangeError` without any run.
 */
export function headline(runs: readonly RunRecord[]): string {
  const ours = runs[0];
  if (ours === undefined) {
    throw new RangeError("Cannot write a headline: runs is empty, expected at least one run");
  }
  const scale = `In ${formatCount(ours.minutes, "minute")}, ${
    formatCount(ours.pods.length, "pod")
  } on ${formatCores(ours.nodeCPU)} cores were throttled`;
  const got = formatFigure(ours.scores.throttledMsPerS);
  const reference = runs[1];
  if (reference === undefined) {
    return `${scale} ${got} ms/s; no other algorithm was run beside it.`;
  }
  const other = formatFigure(reference.scores.throttledMsPerS);
  const under = `with ${reference.algorithm}`;
  if (got === other) return `${scale} ${got} ms/s, as much as ${under}.`;
  return ours.scores.throttledMsPerS < reference.scores.throttledMsPerS
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

/** Throttling, tail latency, cost and reaction of the first run, each beside its reference. */
export function keyFigures(runs: readonly RunRecord[]): KeyFigure[] {
  const ours = runs[0];
  if (ours === undefined) return [];
  const theirs = runs[1];
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
