/**
 * A source of usage that answers from what it is told: stands for all of them.
 *
 * @module
 */
import type {
  UsageAnswer,
  UsageProblem,
  UsageQuestion,
  UsageSource,
} from "../controller/rightsizing/ports.ts";
import { createCollectedSamples } from "../controller/rightsizing/sources/collected_samples.ts";

/** Samples of one container, over all pods; they may be added to at any time. */
export interface ToldUsage {
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
  /** What is told of a container; nothing at first. */
  of(workload: ReportedWorkload, container: string): ToldUsage;
  /** Questions in the order in which they were asked. */
  readonly asked: UsageQuestion[];
  /** Names of workloads whose questions are never answered. */
  readonly stuck: Set<string>;
  /** Answered to all questions while it is there. */
  problem: UsageProblem | undefined;
}

/** A source that is up and has seen nothing. */
export function createUsageAnswers(): UsageAnswers {
  const told = new Map<string, ToldUsage>();
  const asked: UsageQuestion[] = [];
  const subject: UsageAnswers = {
    asked,
    stuck: new Set(),
    problem: undefined,
    of({ namespace, kind, name }, container) {
      const key = JSON.stringify([namespace, kind, name, container]);
      const known = told.get(key) ?? { cpu: [], memory: [] };
      told.set(key, known);
      return known;
    },
    async usage(question, signal): Promise<UsageAnswer> {
      asked.push(question);
      await Promise.resolve();
      if (subject.stuck.has(question.workload.name)) await new Promise(() => {});
      if (signal.aborted) return { problem: "unreachable", message: "called off" };
      if (subject.problem !== undefined) return subject.problem;
      const samples = createCollectedSamples(question);
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
