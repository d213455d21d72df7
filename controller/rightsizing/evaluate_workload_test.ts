import { pure } from "../../tests/fixtures/pure.ts";
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
import { learnUsage, retryResize, silentSource } from "./evaluate_workload.ts";
import type { UsageAnswer } from "./ports.ts";
import type { RightsizingReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import { describeWanted } from "../../shared/resize/inputs/resources.ts";
import type { RightsizingDecision } from "../../shared/rightsizing/guards/decide_rightsizing.ts";

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
function evaluated(answer: UsageAnswer, readySinceMs?: number) {
  const containers = [templateContainer(), templateContainer({ name: "proxy", sidecar: true })];
  const { pods, workload } = rightsizingFacts({ containers });
  const ready = readySinceMs === undefined ? {} : { readySinceMs };
  const facts = { nowMs: NOW_MS, pods: pods.map((pod) => ({ ...pod, ...ready })) };
  const found = learnUsage(answer, { policy: autoPolicy(), workload, corrections: new Map() });
  return { missing: silentSource(facts, answer), found };
}

const answerOf = (...usages: ContainerUsage[]): UsageAnswer => ({
  usage: new Map(usages.map((usage) => [usage.container, usage])),
});

pure("learnUsage() recommends for each container but sidecars, with samples and peaks", () => {
  const { found, missing } = evaluated(answerOf(
    usageOf("app", many(150), [...many(80 * MI), 90 * MI]),
    usageOf("proxy", many(10), many(MI)),
  ));
  assert.ok("recommendations" in found);
  const { recommendations, memoryPeaks, samples } = found;
  assert.deepEqual(recommendations.map(({ container, cpu }) => [container, cpu]), [["app", 180]]);
  assert.equal(memoryPeaks.get("app"), 90 * MI);
  assert.deepEqual([...samples], [["app", 20]]);
  assert.equal(missing, undefined);
});

pure("learnUsage() counts the samples of the resource that has fewer", () => {
  const { found } = evaluated(answerOf(usageOf("app", many(150), many(80 * MI, 4))));
  assert.ok("recommendations" in found);
  assert.equal(found.samples.get("app"), 4);
  assert.deepEqual(found.recommendations, []);
});

pure("learnUsage() has a reason where a source does not answer", () => {
  for (
    const [problem, reason] of [
      ["unreachable", "ProviderUnavailable"],
      ["unavailable", "ProviderUnavailable"],
      ["refused", "MetricsMissing"],
      ["unreadable", "MetricsMissing"],
    ] as const
  ) {
    const { found } = evaluated({ problem, message: "why" });
    assert.deepEqual(found, { reason, message: "why" });
  }
});

pure("silentSource() misses metrics of pods that were Ready for ten minutes", () => {
  const nothing = { usage: new Map([["app", usageOf("app", [], [])]]) };
  const missing = (readyMs?: number, watchedMs?: number) =>
    evaluated(
      watchedMs === undefined ? nothing : { ...nothing, watchedSinceMs: NOW_MS - watchedMs },
      readyMs === undefined ? undefined : NOW_MS - readyMs,
    ).missing;
  for (
    const [readyMs, watchedMs] of [[undefined], [599_999], [3_600_000, 0], [3_600_000, 599_999]]
  ) {
    assert.equal(missing(readyMs, watchedMs), undefined);
  }
  assert.equal(missing(3_600_000, 600_000)?.reason, "MetricsMissing");
  const { reason, message } = missing(600_000) ?? assert.fail();
  assert.equal(reason, "MetricsMissing");
  assert.match(message, /web-1 .* 10 min$/);
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

pure("retryResize() gives a straggler what is in force, in place only", () => {
  const late = workloadPod("web-2", [templateContainer({ requests: { cpu: 105 } })]);
  const there = [workloadPod("web-1", [templateContainer(IN_FORCE)])];
  const nodes = new Map([["node-1", { pressures: ["MemoryPressure"] as const }]]);
  const { workload } = rightsizingFacts({ containers: [templateContainer(IN_FORCE)] });
  const strategy = { allowRecreate: true };
  const all = "InPlace app cpu 105m, app memory 96Mi";
  const rows: readonly (readonly [RightsizingReason, Parameters<typeof done>[1], unknown])[] = [
    ["Cooldown", {}, all],
    ["InsufficientSamples", {}, all],
    ["BelowThreshold", { restOnly: true }, all],
    ["HPAConflict", { restOnly: true }, all],
    ["HPAConflict", {}, undefined],
    ["RecommendOnly", {}, undefined],
    ["DryRun", {}, undefined],
    ["RolloutInProgress", {}, undefined],
    ["Cooldown", { dryRun: true }, "DryRun"],
    ["Cooldown", { pods: [late] }, "InPlace app memory 96Mi"],
    ["Cooldown", { pods: [late], nodes }, "NodePressure"],
    ["Cooldown", { pods: there }, undefined],
    ["Cooldown", { inForce: new Map() }, undefined],
    // What stands in the template is left to a rollout.
    ["Cooldown", { workload, strategy, resizeServed: false }, undefined],
    ["Cooldown", { workload, resizeServed: false }, "InPlaceResizeUnavailable"],
    ["Cooldown", { workload, strategy }, all],
  ];
  for (const [reason, choice, expected] of rows) {
    assert.equal(done(reason, choice), expected, `${reason} ${JSON.stringify(choice)}`);
  }
  for (const allowRecreate of [false, true]) {
    for (const reason of ["Cooldown", "BelowThreshold"] as const) {
      const holds = (choice: FactsChoice): string | undefined =>
        done(reason, { restOnly: true, ...choice });
      const strategy = { allowRecreate };
      assert.equal(holds({ strategy, resizeServed: false }), "InPlaceResizeUnavailable");
      const noMethod = { strategy: { ...strategy, allowInPlaceResize: false } };
      assert.equal(holds(noMethod), "MethodNotAllowed");
      assert.equal(holds({ strategy, nodes }), "NodePressure");
    }
  }
});
