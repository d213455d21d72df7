/**
 * Usage as a server of somebody's own has it.
 *
 * @module
 */
import type { UsageProblem, UsageQuestion, UsageSource } from "../ports.ts";
import { createCollectedSamples, type TimedValues } from "./collected_samples.ts";

/** Samples in millicores and bytes by container, or why there are none. */
export type CustomUsageAnswer = {
  readonly containers: ReadonlyMap<
    string,
    { readonly cpu: TimedValues; readonly memory: TimedValues }
  >;
} | UsageProblem;

/** Asks that server. */
export interface CustomUsageServer {
  /** Never rejects; `signal` ends the wait. */
  ask(question: UsageQuestion, signal: AbortSignal): Promise<CustomUsageAnswer>;
}

/** A source that asks once; what is outside of the window, or not asked for, is left out. */
export function createCustomUsageSource(server: CustomUsageServer): UsageSource {
  return {
    async usage(question, signal) {
      const samples = createCollectedSamples(question);
      if (question.containers.length === 0) return { usage: samples.usage() };
      const answer = await server.ask(question, signal);
      if ("problem" in answer) return answer;
      for (const [container, { cpu, memory }] of answer.containers) {
        samples.add(cpu, { container, resource: "cpu", factor: 1 });
        samples.add(memory, { container, resource: "memory", factor: 1 });
      }
      return { usage: samples.usage() };
    },
  };
}
