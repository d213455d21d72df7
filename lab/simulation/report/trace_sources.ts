/**
 * Where traces come from, for a page that is made from them.
 *
 * @module
 */
import type { TraceSource } from "./report_scene.ts";

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

/** Of a file that the user gave. */
export function ownSource(path: string): TraceSource {
  return { name: path, source: "your own file", licence: "as you hold it" };
}
