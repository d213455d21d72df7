/**
 * How the figures came about and what they do not say.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { type Html, html } from "./html.ts";
import type { ReportScene } from "./report_scene.ts";
import { describeScale } from "./score_measures.ts";

/** The note at the end of the page. */
export function methodNote(run: RunRecord, scene: ReportScene): Html {
  const traces = scene.traces.map(({ name, source, licence }) =>
    html`<li><b>${name}</b>: ${source}. Licence: ${licence}.</li>`
  );
  const again = scene.command === undefined
    ? html``
    : html`<p>The same page again: <code>${scene.command}</code></p>`;
  const list = traces.length === 0 ? html`<p>No recorded trace was used.</p>` : html`
    <p>Traces:</p>
    <ul>${traces}</ul>
  `;
  return html`
    <section
      class="method"><h2>How this was measured</h2><p>${scene.description} ${describeScale(
        run,
      )}; one entry per ${run
        .stepS} s. Every algorithm met the same arrivals on the same simulated node, in virtual time; the same seed gives the same figures.</p><p>A trace has one sample per second, per minute or per request, and nothing recorded is finer: <b>inside a sample the demand is modelled</b>, with arrivals and cost per request drawn at random around it. Latency and throttling come from the node model, not from a machine.</p><p>Long series are drawn as the mean of equal stretches, with a pale band up to the highest step within each; the tables are computed from every step and every request.</p>${list}${again}</section>
  `;
}
