/**
 * Usage from a user's own server: `docs/custom-usage-source.md`.
 *
 * @module
 */
import {
  createCustomUsageClient,
  type CustomUsageServer,
} from "../../../adapters/custom_usage_client.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { UsageConnections, UsageProblem, UsageSource } from "../ports.ts";
import { CollectedSamples } from "./collected_samples.ts";

/** The source of this name in the settings, or why there is none. */
export function connectCustomUsage(
  { settings, loginOf }: UsageConnections,
  name = "",
): UsageSource | UsageProblem {
  const { customSources } = settings();
  const found = customSources.get(name);
  if (found !== undefined) {
    return createCustomUsageSource(
      createCustomUsageClient({ url: found.url, login: loginOf(found.login) }),
    );
  }
  const names = [...customSources.keys()].join(", ");
  const known = names === "" ? "are none" : `are: ${names}`;
  const message = `no custom source ${quotedText(name)} is configured; there ${known}`;
  return { problem: "unavailable", message };
}

/** A source over that server; samples outside of the window or of other containers are left out. */
export function createCustomUsageSource(server: CustomUsageServer): UsageSource {
  return {
    async usage(question, signal) {
      const samples = new CollectedSamples(question);
      if (question.containers.length === 0) return { usage: samples.usage() };
      const answer = await server.ask(question, signal);
      if ("problem" in answer) return answer;
      for (const [container, { cpu, memory }] of answer.containers) {
        samples.add(cpu, { container, resource: "cpu" });
        samples.add(memory, { container, resource: "memory" });
      }
      return { usage: samples.usage() };
    },
  };
}
