/**
 * How the arena's figures came about and what they do not say; the algorithms by name.
 *
 * @module
 */
import { formatFigure } from "../../simulation/report/figure.ts";
import { type Html, html } from "../../simulation/report/html.ts";
import { traceSources } from "../../simulation/report/method_note.ts";
import {
  ALONE,
  COALLOCATOR,
  COALLOCATOR_TIGHT,
  type Entry,
  EQUAL_CORES,
  isCoallocator,
  ORACLE,
  UNLIMITED,
} from "../outcome.ts";
import type { StageResult } from "../stages.ts";

/** The note at the end of the page. */
export function arenaMethod(results: readonly StageResult[]): Html {
  const traces = results.filter(({ kind }) => kind === "trace");
  const scales = traces.map((result) =>
    html`<li><b>${result.name}</b>: ${scaleSentence(result)}</li>`
  );
  const sources = traceSources(traces.map(({ name }) => name)).map(({ name, source, licence }) =>
    html`<li><b>${name}</b>: ${source}. Licence: ${licence}.</li>`
  );
  const algorithms = [
    ...new Set(results.flatMap(({ outcomes }) => outcomes.map(({ algorithm }) => algorithm))),
  ];
  const notes = algorithms.flatMap((algorithm) => {
    const note = algorithmNote(algorithm);
    return note === undefined ? [] : html`
      <div>
        <dt>${algorithm}</dt>
        <dd>${note}</dd>
      </div>
    `;
  });
  const lists = traces.length === 0 ? html`` : html`
    <p>How each trace was scaled:</p>
    <ul>${scales}</ul>
    <p>Where they come from:</p>
    <ul>${sources}</ul>
  `;
  return html`
    <section class="method"
      id="method"><h2>How this was measured</h2><p>Every algorithm met the same requests on the same model of a node, in virtual time, under the same floor, ceiling and delay of a resize. The model throttles containers by quota in periods of 100 ms, as the kernel does, and lets requests queue, so latency is an outcome. The same seeds give the same figures; they are medians over the seeds unless a figure says otherwise.</p><p>A trace has one sample per second, per minute or per request, and no open trace of containers is finer than 10 s: <b>inside a sample the demand is modelled</b>, with arrivals and CPU time per request drawn at random around it. Bursts, steps and shared nodes are made up entirely. Latency and throttling come from the model, not from a machine.</p><p>Of rivals every setting is shown, and the best one is chosen per trace after the fact; CoAllocator has one default. Series are of the first seed.</p>${lists}<dl class="algorithms">${notes}</dl></section>
  `;
}

/** The scaling of a trace before it was played, in a sentence. */
export function scaleSentence({ format, p95Cores }: StageResult): string {
  if (p95Cores !== undefined) {
    const size = `scaled so that its 95th percentile is ${formatFigure(p95Cores)} CPUs`;
    return format === "cores" || format === "prometheus"
      ? `only its shape is the recorded one, it was ${size}.`
      : `arrivals as recorded, what a request costs is made up: ${size}.`;
  }
  return format === "cores" || format === "prometheus"
    ? "not scaled, CPUs as recorded."
    : "not scaled, requests as recorded; what a request costs is made up.";
}

/** An algorithm with its setting; CoAllocator and the oracle have a name alone. */
export function entryName({ algorithm, setting }: Entry): string {
  return isCoallocator({ algorithm }) || algorithm === ORACLE.algorithm
    ? algorithm
    : `${algorithm}, ${setting}`;
}

/** In a sentence for readers that do not know it. */
const NOTES: ReadonlyMap<string, string> = new Map([
  [
    "static",
    "a limit that never changes: a multiple of the request, the ceiling, or from the P90 of the whole trace, which no one knows beforehand",
  ],
  ["hpa", "Kubernetes' HorizontalPodAutoscaler: replicas by CPU utilisation, every 15 s"],
  ["k8s-cpu", "every 15 s, the highest usage of the last 300 s / target"],
  ["k8s-cpu-fast", "every second, the highest usage of the last 20 s / target"],
  ["captain", "Autothrottle's Captain: every second, from the share of throttled periods"],
  [
    "koordinator",
    "Koordinator's CPU burst: raises a throttled quota by a fifth, up to three times the limit",
  ],
  ["vpa", "Kubernetes' VerticalPodAutoscaler: P90 of a decaying histogram, and 15 %"],
  ["mbcas-original", "an earlier market: writes every 15 s, with a cooldown of 30 s"],
  [
    COALLOCATOR.algorithm,
    "the market with the product's defaults: limits are at their ceilings, eight times what users set, until CPU is scarce",
  ],
  [
    COALLOCATOR_TIGHT.algorithm,
    "the market that allocates what is needed and no more, not tuned per trace",
  ],
  [
    ORACLE.algorithm,
    "knows the future: the least limits at which no request waits longer than the SLO, changed no more often than CoAllocator; an algorithm that lets one request in a hundred wait longer may cost less",
  ],
  [EQUAL_CORES.algorithm, "a yardstick: fixed limits that cost the cores of CoAllocator"],
  [
    ALONE.algorithm,
    "a yardstick: the pods beside a noisy neighbour, without it and without limits",
  ],
  [UNLIMITED.algorithm, "a yardstick: no limit at all, which the SLO is made from"],
]);

/** A description of the algorithm; undefined for one without a note. */
export function algorithmNote(algorithm: string): string | undefined {
  return NOTES.get(algorithm);
}
