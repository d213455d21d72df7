/**
 * Usage from Prometheus.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import type {
  UsageProblem,
  UsageQuestion,
  UsageSource,
  UsageWindow,
  WorkloadIdentity,
} from "../ports.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";

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
export interface Moments {
  readonly startMs: number;
  readonly endMs: number;
  readonly stepMs: number;
}

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
  if (!(windowMs > 0 && windowMs < Infinity)) {
    throw new RangeError(`Cannot divide a window: it is ${windowMs} ms long, expected more than 0`);
  }
  const wanted = Math.min(LONGEST_STEP_MS, Math.max(LEAST_STEP_MS, windowMs / POINTS_WANTED));
  const stepMs = wholeSeconds(Math.max(wanted, windowMs / MOST_POINTS));
  const steps = Math.ceil(windowMs / stepMs) - 1;
  return { startMs: toMs - steps * stepMs, endMs: toMs, stepMs };
}

function wholeSeconds(ms: number): number {
  return 1000 * Math.ceil(ms / 1000);
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
 * collectors or before and after a container's restart, so the largest counts.
 */
export function usageQueries(
  question: UsageQuestion,
  { matchers = [] }: {
    /** Of other labels, `cluster="prod"`. @default none */
    readonly matchers?: readonly string[];
  } = {},
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

/** One series of an answer. */
export interface RangeSeries extends TimedValues {
  readonly labels: Readonly<Record<string, string>>;
}

/** What a server said. */
export type RangeAnswer =
  | { readonly series: readonly RangeSeries[] }
  | UsageProblem & {
    /** Present where a smaller question might be answered. */
    readonly tooMuch?: true;
  };

/** Asks for values over time. */
export interface RangeQueries {
  /** Never rejects; `signal` ends the wait. */
  ask(
    question: Moments & { readonly server: string; readonly query: string },
    signal: AbortSignal,
  ): Promise<RangeAnswer>;
}

/** Where is asked. */
export interface PrometheusUsageParts {
  readonly queries: RangeQueries;
  /** The server's address, which may change; null: there is none. */
  readonly server: () => string | null;
  /** Of labels that all usage has, `cluster="prod"`; they may change. @default none */
  readonly matchers?: () => readonly string[];
  /**
   * Points that one answer should have at most.
   *
   * @default {400000, some 12 MB}
   */
  readonly pointsPerAnswer?: number;
}

/** From what Prometheus counts in, cores and bytes, to millicores and bytes. */
const FACTORS: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };

/** A time span of which not even this many moments can be answered is not divided further. */
const LEAST_MOMENTS = 2;

const NO_SERVER: UsageProblem = {
  problem: "unavailable",
  message: "no metrics.prometheusURL is configured",
};

/**
 * A source that asks twice, once for CPU and once for memory. Answers that would be too large are
 * asked for in parts of the time, by the number of living pods, and halved where the series
 * of pods that are gone make them too large still.
 */
export function createPrometheusUsage(
  { queries, server, matchers = () => [], pointsPerAnswer = 400_000 }: PrometheusUsageParts,
): UsageSource {
  /** The series of all moments, the same one in several parts perhaps. */
  async function ask(
    question: Moments & { readonly server: string; readonly query: string },
    signal: AbortSignal,
  ): Promise<RangeAnswer> {
    const answer = await queries.ask(question, signal);
    if (!("problem" in answer) || answer.tooMuch === undefined) return answer;
    if (countMoments(question) <= LEAST_MOMENTS) return answer;
    return await askParts({ ...question, parts: 2 }, signal);
  }

  async function askParts(
    { parts, ...question }: Moments & {
      readonly server: string;
      readonly query: string;
      readonly parts: number;
    },
    signal: AbortSignal,
  ): Promise<RangeAnswer> {
    const series: RangeSeries[] = [];
    for (const moments of splitMoments(question, parts)) {
      const answer = await ask({ ...question, ...moments }, signal);
      if ("problem" in answer) return answer;
      series.push(...answer.series);
    }
    return { series };
  }

  return {
    async usage(question, signal) {
      const at = server();
      if (at === null) return NO_SERVER;
      const samples = createCollectedSamples(question);
      if (question.containers.length === 0) return { usage: samples.usage() };
      const moments = momentsOf(question.window);
      const texts = usageQueries(question, { matchers: matchers() });
      const parts = Math.ceil(expectedPoints(question, moments) / pointsPerAnswer);
      const of = async (resource: ResourceName): Promise<UsageProblem | undefined> => {
        const query = texts[resource];
        const answer = await askParts({ ...moments, server: at, query, parts }, signal);
        if ("problem" in answer) return { problem: answer.problem, message: answer.message };
        const isOthers = othersPods(question);
        for (const series of answer.series) {
          const { pod = "", container = "" } = series.labels;
          if (isOthers(pod)) continue;
          samples.add(series, { container, resource, factor: FACTORS[resource] });
        }
        return undefined;
      };
      const [cpu, memory] = await Promise.all([of("cpu"), of("memory")]);
      return cpu ?? memory ?? { usage: samples.usage() };
    },
  };
}

function expectedPoints({ pods, containers }: UsageQuestion, moments: Moments): number {
  return Math.max(1, pods.length * containers.length * countMoments(moments));
}
