/**
 * The report page: a finding, then tables and plots from the whole to the single change.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { changeList } from "./change_list.ts";
import { headline, keyFigures } from "./headline.ts";
import { html } from "./html.ts";
import { methodNote } from "./method_note.ts";
import { page } from "./page.ts";
import { coresPlot } from "./plots/cores_plot.ts";
import { latencyPlot } from "./plots/latency_plot.ts";
import { podMultiples } from "./plots/pod_multiples.ts";
import { pricePlot } from "./plots/price_plot.ts";
import { throttlingPlot } from "./plots/throttling_plot.ts";
import { tallySentence } from "./pod_tally.ts";
import { podTable } from "./pod_table.ts";
import type { ReportScene } from "./report_scene.ts";
import { describeScale } from "./score_measures.ts";
import { scoreSection } from "./score_section.ts";

/** What the report needs beside the runs. */
export interface ReportOptions {
  readonly scene: ReportScene;
}

/**
 * One self-contained HTML page about the runs of one scene, of which the first is ours and the
 * others are static algorithms. Throws a `RangeError` without any run.
 */
export function renderReport(runs: readonly RunRecord[], { scene }: ReportOptions): string {
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
      ${latencyPlot(runs)}
      ${pricePlot(ours)}
      ${podMultiples(runs)}
      ${podTable(runs)}
      ${changeList(ours)}
      ${methodNote(ours, scene)}
      </main>
    `,
  );
}
