/**
 * Usage as a Prometheus has it.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import type { UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";
import { othersPods } from "./pod_names.ts";
import {
  countMoments,
  type Moments,
  momentsOf,
  splitMoments,
  usageQueries,
} from "./usage_queries.ts";

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
 * asked for in parts of the time, which the number of living pods tells, and halved where the series
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
