import assert from "node:assert/strict";
import {
  type ContainerUsage,
  distributionOfSamples,
} from "../../shared/rightsizing/distribution.ts";
import {
  autoPolicy,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { evaluateWorkload, type Evaluation, type LearnedFacts } from "./evaluate_workload.ts";
import type { UsageAnswer } from "./ports.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

function usageOf(container: string, cpu: number[], memory: number[]): ContainerUsage {
  const window = { nowMs: NOW_MS, windowMs: 86_400_000 };
  const distribution = (values: number[]): ContainerUsage["cpu"] =>
    distributionOfSamples(
      values.map((value, index) => ({ atMs: NOW_MS - index * 1000, value })),
      window,
    );
  return { container, cpu: distribution(cpu), memory: distribution(memory) };
}

const many = (value: number, count = 20): number[] => new Array(count).fill(value);

/** Of a workload with container `app` and sidecar `proxy`. */
function evaluated(
  answer: UsageAnswer,
  readySinceMs?: number,
): { readonly found: Evaluation; readonly learned: LearnedFacts | undefined } {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const made = rightsizingFacts({ containers });
  const ready = readySinceMs === undefined ? {} : { readySinceMs };
  const facts = { ...made, pods: made.pods.map((pod) => ({ ...pod, ...ready })) };
  let learned: LearnedFacts | undefined;
  const found = evaluateWorkload(answer, {
    policy: autoPolicy(),
    workload: facts.workload,
    corrections: new Map(),
    factsWith: (known) => {
      learned = known;
      return { ...facts, ...known };
    },
  });
  return { found, learned };
}

const answerOf = (...usages: ContainerUsage[]): UsageAnswer => ({
  usage: new Map(usages.map((usage) => [usage.container, usage])),
});

test("evaluateWorkload() recommends for each container but sidecars, and decides on it", () => {
  const { found, learned } = evaluated(answerOf(
    usageOf("app", many(150), [...many(80 * MI), 90 * MI]),
    usageOf("proxy", many(10), many(MI)),
  ));
  assert.ok("decision" in found);
  assert.deepEqual(found.recommendations.map(({ container, cpu }) => [container, cpu]), [[
    "app",
    180,
  ]]);
  assert.equal(found.decision.outcome, "apply");
  assert.equal(learned?.memoryPeaks.get("app"), 90 * MI);
  assert.deepEqual([...learned?.samples ?? []], [["app", 20]]);
});

test("evaluateWorkload() counts the samples of the resource that has fewer", () => {
  const { found, learned } = evaluated(answerOf(usageOf("app", many(150), many(80 * MI, 4))));
  assert.equal(learned?.samples.get("app"), 4);
  assert.ok("decision" in found && found.decision.outcome === "hold");
  assert.equal(found.decision.reason, "InsufficientSamples");
  assert.deepEqual(found.recommendations, []);
});

test("evaluateWorkload() decides nothing where a source does not answer", () => {
  const words: Record<string, string> = {
    unreachable: "ProviderUnavailable",
    unavailable: "ProviderUnavailable",
    refused: "MetricsMissing",
    unreadable: "MetricsMissing",
  };
  for (const problem of ["unreachable", "unavailable", "refused", "unreadable"] as const) {
    const { found, learned } = evaluated({ problem, message: "why" });
    assert.deepEqual(found, { missing: { reason: words[problem], message: "why" } });
    assert.equal(learned, undefined);
  }
});

test("evaluateWorkload() of what no source has seen is short of samples, and misses metrics once pods have run for long", () => {
  const nothing = answerOf(usageOf("app", [], []));
  for (const readySinceMs of [undefined, NOW_MS - 599_999]) {
    const { found } = evaluated(nothing, readySinceMs);
    assert.ok("decision" in found && found.decision.outcome === "hold");
    assert.equal(found.decision.reason, "InsufficientSamples");
    assert.equal(found.decision.message, "app has 0 of 10 samples");
  }
  const { found } = evaluated(nothing, NOW_MS - 600_000);
  assert.ok("missing" in found);
  assert.equal(found.missing.reason, "MetricsMissing");
  assert.match(found.missing.message, /web-1 .* 10 min$/);
});

test("evaluateWorkload() does not call silent who has begun to watch", () => {
  const nothing = { usage: new Map([["app", usageOf("app", [], [])]]) };
  const reasonOf = (watchedSinceMs: number): string | undefined => {
    const { found } = evaluated({ ...nothing, watchedSinceMs }, NOW_MS - 3_600_000);
    if ("missing" in found) return found.missing.reason;
    return found.decision.outcome === "hold" ? found.decision.reason : undefined;
  };
  assert.equal(reasonOf(NOW_MS), "InsufficientSamples");
  assert.equal(reasonOf(NOW_MS - 599_999), "InsufficientSamples");
  assert.equal(reasonOf(NOW_MS - 600_000), "MetricsMissing");
});
