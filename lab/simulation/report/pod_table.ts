/**
 * The allocation of each pod, and why: every pod under the first run and under its reference.
 *
 * @module
 */
import type { PodRecord, RunRecord } from "../run_record.ts";
import { formatFigure, formatMillicores, NO_FIGURE } from "./figure.ts";
import { type Html, html } from "./html.ts";
import { type PodRow, podRows } from "./pod_rows.ts";

/** The table of all pods. */
export function podTable(runs: readonly RunRecord[]): Html {
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
      <td class="ours">${formatFigure(ours.throttledMsPerS)}</td>
      <td>${formatFigure(theirs?.throttledMsPerS)}</td>
      <td class="ours">${p99(ours)}</td>
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
