/**
 * Usage from Prometheus.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import {
  createRangeQueries,
  type PrometheusRange,
  type PrometheusRangeQueries,
  type PrometheusSeries,
} from "../../../adapters/prometheus/range_queries.ts";
import type { PrometheusProblem } from "../../../adapters/prometheus/prometheus_request.ts";
import type { LoginFiles, RequestHeaders } from "../../../shared/config/server_kinds.ts";
import type { UsageConnections, UsageProblem, UsageQuery, UsageSource } from "../ports.ts";
import { CollectedSamples } from "./collected_samples.ts";
import { countMoments, momentsOf, splitMoments } from "./moments.ts";
import { foreignPodFilter, podsPattern, regexText } from "./pod_names.ts";

/** The range of a rate, as long as the longest usual step of `moments.ts`. */
const RATE_RANGE = "2m";

/**
 * The query of each resource, over all pods and containers: cores as rates over 2 min, and bytes of the working
 * set. Series that differ in other labels only are of the same container, from several collectors or before and
 * after a restart, so the largest counts. `matchers`: for other labels, `cluster="prod"`.
 */
export function usageQueries(
  query: UsageQuery,
  matchers: readonly string[],
): Readonly<Record<ResourceName, string>> {
  const { namespace, containers } = query;
  const selector = [
    `namespace=${quoted(namespace)}`,
    `pod=~${quoted(podsPattern(query))}`,
    `container=~${quoted(containers.map(regexText).join("|"))}`,
    ...matchers,
  ].join(",");
  const cpu = `rate(container_cpu_usage_seconds_total{${selector}}[${RATE_RANGE}])`;
  const memory = `container_memory_working_set_bytes{${selector}}`;
  return { cpu: `max by (pod,container) (${cpu})`, memory: `max by (pod,container) (${memory})` };
}

/** A string of PromQL, which has Go's escapes: these include JSON's. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** From Prometheus' cores and bytes to millicores and bytes. */
const FACTORS: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };
/** Points that one answer should have at most, some 12 MB. */
const POINTS_PER_ANSWER = 400_000;
/** A query of no more moments is not divided further. */
const LEAST_MOMENTS = 2;

const NO_SERVER: UsageProblem = {
  problem: "unavailable",
  message: "no metrics.prometheusURL is configured",
};

/** The settings of this source, which the market reads, too. */
export interface PrometheusSettings {
  readonly prometheusURL: string | null;
  readonly prometheusLogin: LoginFiles;
  readonly prometheusHeaders: RequestHeaders;
  readonly prometheusMatchers: readonly string[];
}

/** The source at the address of the settings, which may change while the program runs. */
export function connectPrometheusUsage(
  { settings, loginOf }: UsageConnections<PrometheusSettings>,
): UsageSource {
  const { prometheusLogin, prometheusHeaders } = settings();
  return createPrometheusUsageSource({
    queries: createRangeQueries({
      program: "controller",
      login: loginOf(prometheusLogin, prometheusHeaders),
    }),
    server: () => settings().prometheusURL,
    matchers: () => settings().prometheusMatchers,
  });
}

/**
 * A source that sends one query for CPU and one for memory. The window is divided by the expected size of the
 * answer, and halved again where series of deleted pods make an answer too large.
 */
export function createPrometheusUsageSource(
  { queries, server, matchers }: {
    readonly queries: PrometheusRangeQueries;
    /** The server's address, which may change; null: none is configured. */
    readonly server: () => string | null;
    /** Matchers for labels that all usage has, `cluster="prod"`; they may change. */
    readonly matchers: () => readonly string[];
  },
): UsageSource {
  /** The series of all moments; one series may come in several parts. */
  async function ask(
    range: PrometheusRange,
    { parts, signal }: { readonly parts: number; readonly signal: AbortSignal },
  ): Promise<readonly PrometheusSeries[] | PrometheusProblem> {
    const all: PrometheusSeries[] = [];
    for (const moments of splitMoments(range, parts)) {
      const part = { ...range, ...moments };
      const answer = await queries.ask(part, signal);
      if (!("problem" in answer)) {
        all.push(...answer.series);
        continue;
      }
      if (answer.tooMuch === undefined || countMoments(part) <= LEAST_MOMENTS) return answer;
      const halves = await ask(part, { parts: 2, signal });
      if ("problem" in halves) return halves;
      all.push(...halves);
    }
    return all;
  }

  return {
    async usage(query, signal) {
      const at = server();
      if (at === null) return NO_SERVER;
      const samples = new CollectedSamples(query);
      const { pods, containers, window } = query;
      if (containers.length === 0) return { usage: samples.usage() };
      const moments = momentsOf(window);
      const texts = usageQueries(query, matchers());
      const points = Math.max(1, pods.length * containers.length * countMoments(moments));
      const parts = Math.ceil(points / POINTS_PER_ANSWER);
      const isOthers = foreignPodFilter(query);
      const collect = async (resource: ResourceName): Promise<UsageProblem | undefined> => {
        const range = { ...moments, server: at, query: texts[resource] };
        const answer = await ask(range, { parts, signal });
        if ("problem" in answer) return { problem: answer.problem, message: answer.message };
        for (const series of answer) {
          const { pod = "", container = "" } = series.labels;
          if (isOthers(pod)) continue;
          samples.add(series, { container, resource, factor: FACTORS[resource] });
        }
        return undefined;
      };
      const [cpu, memory] = await Promise.all([collect("cpu"), collect("memory")]);
      return cpu ?? memory ?? { usage: samples.usage() };
    },
  };
}
