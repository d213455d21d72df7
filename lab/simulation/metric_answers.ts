/**
 * A metrics server that answers as instructed: stands for a Prometheus.
 *
 * @module
 */
import type { InstantAnswer, InstantQueries } from "../../controller/metrics_demand/ports.ts";
import type { Clock } from "../../shared/clock.ts";
import type {
  UsageAnswer,
  UsageProblem,
  UsageQuestion,
  UsageSource,
} from "../../controller/rightsizing/ports.ts";
import { CollectedSamples } from "../../controller/rightsizing/sources/collected_samples.ts";

/** What a query finds: its values, or that it is refused, with a message. */
export type QueryResult = readonly number[] | { readonly refused: string };

/** The server. */
export interface MetricAnswers extends InstantQueries {
  /** By the query's text; a query that is not there finds nothing. */
  readonly results: Map<string, QueryResult>;
  /** Queries in the order in which they were asked. */
  readonly asked: string[];
  /** False: no answer. */
  up: boolean;
}

/** A server that is up and finds nothing. */
export function createMetricAnswers(clock: Pick<Clock, "wall">): MetricAnswers {
  const results = new Map<string, QueryResult>();
  const asked: string[] = [];
  const subject: MetricAnswers = {
    results,
    asked,
    up: true,
    async ask({ query }, signal): Promise<InstantAnswer> {
      asked.push(query);
      await Promise.resolve();
      if (signal.aborted) return { problem: "unreachable", message: "called off" };
      if (!subject.up) return { problem: "unreachable", message: "connection refused" };
      const found = results.get(query) ?? [];
      if ("refused" in found) return { problem: "refused", message: found.refused };
      return { samples: found.map((value) => ({ value, atMs: clock.wall() })) };
    },
  };
  return subject;
}

/** Samples of one container, over all pods; they may be added to at any time. */
export interface ReportedUsage {
  /** Ms since 1970 and millicores. */
  readonly cpu: (readonly [timeMs: number, value: number])[];
  /** Ms since 1970 and bytes. */
  readonly memory: (readonly [timeMs: number, value: number])[];
}

/** A workload by its names. */
export interface ReportedWorkload {
  readonly namespace: string;
  readonly kind: string;
  readonly name: string;
}

/** The source. */
export interface UsageAnswers extends UsageSource {
  /** The usage of a container; nothing at first. */
  of(workload: ReportedWorkload, container: string): ReportedUsage;
  /** Questions in the order in which they were asked. */
  readonly asked: UsageQuestion[];
  /** Names of workloads with questions that are never answered. */
  readonly stuck: Set<string>;
  /** Answered to all questions while it is there. */
  problem: UsageProblem | undefined;
}

/** A source that is up and has seen nothing. */
export function createUsageAnswers(): UsageAnswers {
  const reported = new Map<string, ReportedUsage>();
  const asked: UsageQuestion[] = [];
  const subject: UsageAnswers = {
    asked,
    stuck: new Set(),
    problem: undefined,
    of({ namespace, kind, name }, container) {
      const key = JSON.stringify([namespace, kind, name, container]);
      const known = reported.get(key) ?? { cpu: [], memory: [] };
      reported.set(key, known);
      return known;
    },
    async usage(question, signal): Promise<UsageAnswer> {
      asked.push(question);
      await Promise.resolve();
      if (subject.stuck.has(question.workload.name)) await new Promise(() => {});
      if (signal.aborted) return { problem: "unreachable", message: "called off" };
      if (subject.problem !== undefined) return subject.problem;
      const samples = new CollectedSamples(question);
      const { namespace, workload: { kind, name } } = question;
      for (const container of question.containers) {
        const usage = subject.of({ namespace, kind, name }, container);
        for (const resource of ["cpu", "memory"] as const) {
          const timesMs = usage[resource].map(([timeMs]) => timeMs);
          const values = usage[resource].map(([, value]) => value);
          samples.add({ timesMs, values }, { container, resource, factor: 1 });
        }
      }
      return { usage: samples.usage() };
    },
  };
  return subject;
}
