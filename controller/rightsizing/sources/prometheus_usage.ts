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
import type {
  UsageConnections,
  UsageProblem,
  UsageQuestion,
  UsageSource,
  UsageWindow,
  WorkloadIdentity,
} from "../ports.ts";
import { CollectedSamples } from "./collected_samples.ts";

/**
 * The letters and digits that made-up parts of names consist of: without vowels, and without what
 * looks like one. Source: k8s.io/apimachinery/pkg/util/rand (`alphanums`).
 */
const SAFE = "[bcdfghjklmnpqrstvwxz2456789]";
/** Of the part that makes a pod's name unlike others (k8s.io/apiserver/pkg/storage/names). */
const RANDOM = `${SAFE}{5}`;
/** A hash of the template is 32 bits in decimal, each digit written as a safe character. */
const LONGEST_HASH = 10;
/** What stands before the random part is cut to this: 63 − 5 characters, from the same place. */
const LONGEST_BASE = 58;

/**
 * A regular expression, of RE2 and of JavaScript alike, for the whole names of a workload's pods:
 * `web-<hash>-<random>` of a Deployment, `web-<ordinal>` of a StatefulSet, `web-<random>` of a
 * DaemonSet. It holds for pods that are gone, too.
 */
export function podNamePattern({ kind, name }: Pick<WorkloadIdentity, "kind" | "name">): string {
  if (kind === "StatefulSet") return `${regexText(name)}-(?:0|[1-9][0-9]*)`;
  const base = `${name}-`;
  if (kind === "DaemonSet") return `${regexText(base.slice(0, LONGEST_BASE))}${RANDOM}`;
  // A long name is cut within the hash, or before it.
  const room = LONGEST_BASE - base.length;
  if (room <= 0) return `${regexText(base.slice(0, LONGEST_BASE))}${RANDOM}`;
  if (room > LONGEST_HASH) return `${regexText(base)}${SAFE}{1,${LONGEST_HASH}}-${RANDOM}`;
  const whole = room > 1 ? `${SAFE}{1,${room - 1}}-|` : "";
  return `${regexText(base)}(?:${whole}${SAFE}{${room}})${RANDOM}`;
}

/** The text itself, as a regular expression. */
export function regexText(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/**
 * Whether a series is of a pod of another workload: its own name says so, or that of a
 * living brother. `web-bcd-x4x4x` is no pod of the Deployment `web` where `web-bcd-y5y5y` is one of
 * the DaemonSet `web-bcd`.
 */
export function othersPods(
  { pods, otherPods }: { readonly pods: readonly string[]; readonly otherPods: readonly string[] },
): (pod: string) => boolean {
  const own = new Set(pods);
  const others = new Set(otherPods);
  const families = new Set(otherPods.map(familyOf));
  for (const pod of pods) families.delete(familyOf(pod));
  return (pod) => !own.has(pod) && (others.has(pod) || families.has(familyOf(pod)));
}

/** What stands before the last part: the name of the object that made the pod. */
function familyOf(pod: string): string {
  return pod.slice(0, Math.max(0, pod.lastIndexOf("-")));
}

/** Moments of evaluation: the first, the last, and all between at this distance. */
export type Moments = Pick<PrometheusRange, "startMs" | "endMs" | "stepMs">;

/** The range of the rate. */
const RATE_RANGE = "2m";
/** As long as that range: each second counts once. */
const LONGEST_STEP_MS = 120_000;
const LEAST_STEP_MS = 15_000;
/** Of a short window, so that its percentiles stand on something. */
const POINTS_WANTED = 720;
/** What Prometheus answers for one series at most. */
const MOST_POINTS = 11_000;

/**
 * The moments of a window: from its end backwards, all of them after its beginning. The step is a
 * 720th of the window, from 15 s to 2 min, and longer where there would be more than 11,000 moments:
 * 1 h: 15 s; 24 h: 2 min; 30 days: 4 min. A window below 15 s has one moment.
 */
export function momentsOf({ fromMs, toMs }: UsageWindow): Moments {
  const windowMs = toMs - fromMs;
  const wanted = Math.min(LONGEST_STEP_MS, Math.max(LEAST_STEP_MS, windowMs / POINTS_WANTED));
  const stepMs = 1000 * Math.ceil(Math.max(wanted, windowMs / MOST_POINTS) / 1000);
  const steps = Math.ceil(windowMs / stepMs) - 1;
  return { startMs: toMs - steps * stepMs, endMs: toMs, stepMs };
}

/** How many moments these are. */
export function countMoments({ startMs, endMs, stepMs }: Moments): number {
  return Math.round((endMs - startMs) / stepMs) + 1;
}

/** The moments in this many parts, in order, each moment in one; fewer where there are not as many. */
export function splitMoments(moments: Moments, parts: number): readonly Moments[] {
  const { startMs, stepMs } = moments;
  const count = countMoments(moments);
  const each = Math.ceil(count / Math.min(parts, count));
  return Array.from({ length: Math.ceil(count / each) }, (_, index) => {
    const from = index * each;
    const to = Math.min(count, from + each) - 1;
    return { startMs: startMs + from * stepMs, endMs: startMs + to * stepMs, stepMs };
  });
}

/**
 * One query a resource, over all pods and containers: cores as rates over 2 min, and bytes of the
 * working set. Series that differ in other labels only are the same thing seen twice, by several
 * collectors or before and after a container's restart, so the largest counts. `matchers`: of other
 * labels, `cluster="prod"`.
 */
export function usageQueries(
  question: UsageQuestion,
  matchers: readonly string[],
): Readonly<Record<ResourceName, string>> {
  const { namespace, containers } = question;
  const selector = [
    `namespace=${quoted(namespace)}`,
    `pod=~${quoted(podsPattern(question))}`,
    `container=~${quoted(containers.map(regexText).join("|"))}`,
    ...matchers,
  ].join(",");
  const cpu = `rate(container_cpu_usage_seconds_total{${selector}}[${RATE_RANGE}])`;
  const memory = `container_memory_working_set_bytes{${selector}}`;
  return { cpu: `max by (pod,container) (${cpu})`, memory: `max by (pod,container) (${memory})` };
}

/** By the rule of the names, and by name where a living pod does not follow it. */
function podsPattern({ workload, pods }: UsageQuestion): string {
  const rule = podNamePattern(workload);
  const byRule = new RegExp(`^(?:${rule})$`);
  return [rule, ...pods.filter((pod) => !byRule.test(pod)).map(regexText)].join("|");
}

/** A string of PromQL: its escapes are those of Go, of which JSON's are some. */
function quoted(text: string): string {
  return JSON.stringify(text);
}

/** Where is asked. */
export interface PrometheusUsageParts {
  readonly queries: PrometheusRangeQueries;
  /** The server's address, which may change; null: there is none. */
  readonly server: () => string | null;
  /** Of labels that all usage has, `cluster="prod"`; they may change. */
  readonly matchers: () => readonly string[];
}

/** From what Prometheus counts in, cores and bytes, to millicores and bytes. */
const FACTORS: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };
/** Points that one answer should have at most, some 12 MB. */
const POINTS_PER_ANSWER = 400_000;
/** A time span of which not even this many moments can be answered is not divided further. */
const LEAST_MOMENTS = 2;

const NO_SERVER: UsageProblem = {
  problem: "unavailable",
  message: "no metrics.prometheusURL is configured",
};

/** The source at the address of the settings, which is followed while the program runs. */
export function connectPrometheusUsage({ settings, loginOf }: UsageConnections): UsageSource {
  const { prometheusLogin, prometheusHeaders } = settings();
  return createPrometheusUsageSource({
    queries: createRangeQueries({ login: loginOf(prometheusLogin, prometheusHeaders) }),
    server: () => settings().prometheusURL,
    matchers: () => settings().prometheusMatchers,
  });
}

/**
 * A source that asks twice, once for CPU and once for memory. Answers that would be too large are
 * asked for in parts of the time, by the number of living pods, and halved where the series
 * of pods that are gone make them too large still.
 */
export function createPrometheusUsageSource(
  { queries, server, matchers }: PrometheusUsageParts,
): UsageSource {
  /** The series of all moments, the same one in several parts perhaps. */
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
    async usage(question, signal) {
      const at = server();
      if (at === null) return NO_SERVER;
      const samples = new CollectedSamples(question);
      const { pods, containers, window } = question;
      if (containers.length === 0) return { usage: samples.usage() };
      const moments = momentsOf(window);
      const texts = usageQueries(question, matchers());
      const points = Math.max(1, pods.length * containers.length * countMoments(moments));
      const parts = Math.ceil(points / POINTS_PER_ANSWER);
      const isOthers = othersPods(question);
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
