import assert from "node:assert/strict";
import {
  type ContainerUsage,
  distributionOfSamples,
} from "../../shared/rightsizing/distribution.ts";
import {
  autoPolicy,
  type FactsChoice,
  MI,
  NOW_MS,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import {
  evaluateWorkload,
  type Evaluation,
  type LearnedFacts,
  retryResize,
} from "./evaluate_workload.ts";
import type { UsageAnswer } from "./ports.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { describeWanted } from "../../shared/resize/inputs/resources.ts";
import type { RightsizingDecision } from "../../shared/rightsizing/guards/decide_rightsizing.ts";

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

const IN_FORCE = { requests: { cpu: 105, memory: 96 * MI }, limits: {} };

/** What is done for pods of which `web-1` has what is in force and `web-2` the template's values. */
function done(
  reason: RightsizingReason,
  { restOnly, ...choice }: FactsChoice & { readonly restOnly?: true } = {},
): string | undefined {
  const pods = [
    workloadPod("web-1", [templateContainer(IN_FORCE)]),
    workloadPod("web-2", [templateContainer()]),
  ];
  const held: RightsizingDecision = {
    outcome: "hold",
    by: "",
    reason,
    message: "",
    clamps: [],
    ...(restOnly && { restOnly }),
  };
  const inForce = new Map([["app", IN_FORCE]]);
  const facts = rightsizingFacts({ pods, inForce, lastAppliedMs: NOW_MS - 1, ...choice });
  const again = retryResize(facts, held);
  return again?.outcome === "apply"
    ? `${again.method} ${describeWanted(again.wanted)}`
    : again?.reason;
}

test("retryResize() gives a straggler what is in force, though it is little and the cooldown runs", () => {
  for (const reason of ["Cooldown", "InsufficientSamples"] as const) {
    assert.equal(done(reason), "InPlace app cpu 105m, app memory 96Mi", reason);
  }
  for (const reason of ["BelowThreshold", "HPAConflict"] as const) {
    assert.equal(done(reason, { restOnly: true }), "InPlace app cpu 105m, app memory 96Mi", reason);
  }
});

test("retryResize() does nothing where the hold is one against these values, too", () => {
  for (const reason of ["RecommendOnly", "DryRun", "RolloutInProgress", "HPAConflict"] as const) {
    assert.equal(done(reason), undefined, reason);
  }
  assert.equal(done("Cooldown", { dryRun: true }), "DryRun");
});

test("retryResize() says why a straggler can't have it, and asks nothing for what all have", () => {
  const late = workloadPod("web-2", [templateContainer({ requests: { cpu: 105 } })]);
  assert.equal(done("Cooldown", { pods: [late] }), "InPlace app memory 96Mi");
  const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
  assert.equal(done("Cooldown", { pods: [late], nodes }), "NodePressure");
});

test("retryResize() does nothing where all is there, and recreates no pod for a straggler", () => {
  const all = [workloadPod("web-1", [templateContainer(IN_FORCE)])];
  assert.equal(done("Cooldown", { pods: all }), undefined);
  assert.equal(done("Cooldown", { inForce: new Map() }), undefined);
});

test("retryResize() says that there is no way, whether or not others may be recreated", () => {
  for (const allowRecreate of [false, true]) {
    for (const reason of ["Cooldown", "BelowThreshold"] as const) {
      const holds = (choice: FactsChoice): string | undefined =>
        done(reason, { restOnly: true, ...choice });
      const strategy = { allowRecreate };
      assert.equal(holds({ strategy, resizeServed: false }), "InPlaceResizeUnavailable");
      assert.equal(
        holds({ strategy: { ...strategy, allowInPlaceResize: false } }),
        "MethodNotAllowed",
      );
      const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
      assert.equal(holds({ strategy, nodes }), "NodePressure");
    }
  }
});

test("retryResize() leaves to a rollout what stands in the template", () => {
  const written = [templateContainer(IN_FORCE)];
  const { workload } = rightsizingFacts({ containers: written });
  const strategy = { allowRecreate: true };
  assert.equal(done("Cooldown", { workload, strategy, resizeServed: false }), undefined);
  assert.equal(done("Cooldown", { workload, resizeServed: false }), "InPlaceResizeUnavailable");
  assert.match(done("Cooldown", { workload, strategy }) ?? "", /^InPlace /);
});
