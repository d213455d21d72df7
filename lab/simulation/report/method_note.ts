/**
 * How the figures came about, from what, and what they do not say.
 *
 * @module
 */
import type { RunRecord } from "../run_record.ts";
import { type Html, html } from "./html.ts";
import { describeScale } from "./score_measures.ts";

/** Where a trace comes from. */
export interface TraceSource {
  readonly name: string;
  /** Where it was published, as text or as a URL. */
  readonly source: string;
  readonly licence: string;
}

/** The scene as text. */
export interface ReportScene {
  /** The loads and the node, in a sentence or two. */
  readonly description: string;
  readonly traces: readonly TraceSource[];
  /** The command that makes this report again. */
  readonly command?: string;
}

interface NamedSource extends TraceSource {
  /** The names under which stages play them. */
  readonly stages: RegExp;
}

const SOURCES: readonly NamedSource[] = [
  {
    stages: /^(?:diurnal|bursty)$/,
    name: "diurnal, bursty: requests per second, a sample per second",
    source: "https://github.com/microsoft/autothrottle, traces/",
    licence: "MIT",
  },
  {
    stages: /^crane[0-5]$/,
    name: "crane0 to crane5: CPU in production, a sample per minute, units not documented",
    source: "https://github.com/gocrane/crane, pkg/prediction/dsp/test_data/",
    licence: "Apache-2.0",
  },
  {
    stages: /^azure-code$/,
    name: "azure-code: arrivals of LLM inference requests, one by one, 2023-11-16",
    source: "https://github.com/Azure/AzurePublicDataset, AzureLLMInferenceTrace_code.csv",
    licence: "CC-BY 4.0",
  },
];

/** Sources of the traces so named; what the project does not ship is a file of the user's own. */
export function traceSources(names: readonly string[]): TraceSource[] {
  const shipped = SOURCES.filter(({ stages }) => names.some((name) => stages.test(name)));
  const own = names.filter((name) => !SOURCES.some(({ stages }) => stages.test(name)));
  return [
    ...shipped.map(({ name, source, licence }) => ({ name, source, licence })),
    ...own.map(ownSource),
  ];
}

/** The source of a file that the user gave. */
export function ownSource(path: string): TraceSource {
  return { name: path, source: "your own file", licence: "as you hold it" };
}

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
