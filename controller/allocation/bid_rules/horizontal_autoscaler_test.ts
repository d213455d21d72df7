import assert from "node:assert/strict";
import fc from "fast-check";
import type { CPUTarget } from "../../../shared/api/autoscalers.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import { sampleContainer, samplePod } from "../../../tests/contract/support/sample_objects.ts";
import { bidFacts, FACTS_NOW_MS } from "../../../tests/fixtures/market/bid_facts.ts";
import { sampleHPA, sampleWorkload } from "../../../tests/fixtures/sample_workloads.ts";
import type { BidEffect, BidFacts } from "./bid_rule.ts";
import { HPA_COORDINATION } from "../../../shared/api/market_keys.ts";
import { horizontalAutoscaler } from "./horizontal_autoscaler.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const PAIR = [
  sampleContainer({ requests: { cpu: 200 } }),
  sampleContainer({ name: "proxy", requests: { cpu: 100 } }),
];

function effects(
  containers: readonly PodContainer[],
  change: Partial<BidFacts>,
  edit: (pod: Pod) => Pod = (pod) => pod,
): readonly BidEffect[] {
  return horizontalAutoscaler(bidFacts(edit(samplePod("web", { containers })), change));
}

function floors(containers: readonly PodContainer[], ...cpuTargets: CPUTarget[]) {
  return effects(containers, { autoscalers: [sampleHPA({ cpuTargets })] })
    .filter(({ reason }) => reason === "HPAFloor")
    .map(({ container, floor }) => [container, floor]);
}

test("horizontalAutoscaler() says nothing without an HPA, or of one that does not look at CPU", () => {
  assert.deepEqual(effects(PAIR, {}), []);
  assert.deepEqual(effects(PAIR, { autoscalers: [sampleHPA({ cpuTargets: [] })] }), []);
});

test("horizontalAutoscaler() puts floors at 1.2 times the usage that the HPA aims at", () => {
  assert.deepEqual(floors(PAIR, { utilization: 0.5 }), [["app", 120], ["proxy", 60]]);
  // 1.2 × 0.85 × 100 m = 102 m, which no rounding down may undercut.
  assert.deepEqual(floors([sampleContainer({ requests: { cpu: 99 } })], { utilization: 0.85 }), [
    ["app", 101],
  ]);
});

test("horizontalAutoscaler() says of each floor where it comes from", () => {
  const [floor] = effects(PAIR, {
    autoscalers: [sampleHPA({ cpuTargets: [{ utilization: 0.5 }] })],
  });
  assert.equal(
    floor?.message,
    "app at least 120m: 1.2 × 100m, the usage that HPA web-hpa aims at",
  );
});

test("horizontalAutoscaler() heeds a target of one container for that container alone", () => {
  assert.deepEqual(floors(PAIR, { container: "proxy", utilization: 0.5 }), [["proxy", 60]]);
  assert.deepEqual(floors(PAIR, { container: "proxy", value: 250 }), [["proxy", 300]]);
  assert.deepEqual(floors(PAIR, { container: "other", utilization: 0.5 }), []);
});

test("horizontalAutoscaler() splits an average value of the pod by request", () => {
  assert.deepEqual(floors(PAIR, { value: 300 }), [["app", 240], ["proxy", 120]]);
});

test("horizontalAutoscaler() has no floor for a container without a request", () => {
  const bare = { ...sampleContainer({ name: "bare" }), requests: {} };
  assert.deepEqual(floors([...PAIR, bare], { utilization: 0.5 }), [["app", 120], ["proxy", 60]]);
});

test("horizontalAutoscaler() has no floor for a container without a limit, which still counts", () => {
  const free = { ...sampleContainer({ name: "free" }), limits: {} };
  assert.deepEqual(floors([sampleContainer(), free], { value: 200 }), [["app", 120]]);
});

test("horizontalAutoscaler() is not led above the step by floating point", () => {
  assert.deepEqual(floors([sampleContainer()], { utilization: 0.7 }), [["app", 84]]);
});

test("horizontalAutoscaler() reports the floors of all metrics of all its HPAs", () => {
  assert.deepEqual(
    floors([sampleContainer()], { utilization: 0.5 }, { container: "app", value: 200 }),
    [["app", 60], ["app", 240]],
  );
});

test("horizontalAutoscaler() has limits go down by half steps", () => {
  const damped = effects(PAIR, { autoscalers: [sampleHPA()] })
    .find(({ reason }) => reason === "HPADamped");
  assert.deepEqual([damped?.held, damped?.container, damped?.untilMs], [
    "half",
    undefined,
    undefined,
  ]);
});

test("horizontalAutoscaler() lowers nothing for one window after scaling, and says when it ends", () => {
  const stabilizationMs = 60_000;
  const scaled = (agoMs: number) =>
    effects(PAIR, {
      autoscalers: [sampleHPA({ lastScaleMs: FACTS_NOW_MS - agoMs, stabilizationMs })],
    }).find(({ reason }) => reason === "HPAScaled");
  assert.deepEqual([scaled(59_999)?.held, scaled(59_999)?.untilMs], ["lower", FACTS_NOW_MS + 1]);
  assert.equal(scaled(0)?.untilMs, FACTS_NOW_MS + 60_000);
  assert.equal(scaled(60_000), undefined);
  const without = sampleHPA({ lastScaleMs: FACTS_NOW_MS, stabilizationMs: 0 });
  assert.ok(
    !effects(PAIR, { autoscalers: [without] }).some(({ reason }) => reason === "HPAScaled"),
  );
});

test("horizontalAutoscaler() is switched off by the annotation of pod or workload, the pod's first", () => {
  const autoscalers = [sampleHPA({ lastScaleMs: FACTS_NOW_MS })];
  const say = (effect: string) => ({ [HPA_COORDINATION]: effect });
  const annotated = (effect: string) => (pod: Pod): Pod => ({
    ...pod,
    metadata: { ...pod.metadata, annotations: say(effect) },
  });
  const off = sampleWorkload({ annotations: say("false") });
  assert.deepEqual(effects(PAIR, { autoscalers }, annotated("false")), []);
  assert.deepEqual(effects(PAIR, { autoscalers, workload: off }), []);
  const on = effects(PAIR, { autoscalers });
  assert.equal(on.length, 4);
  assert.deepEqual(effects(PAIR, { autoscalers, workload: off }, annotated("true")), on);
  const workload = sampleWorkload({ annotations: say("no") });
  assert.deepEqual(effects(PAIR, { autoscalers, workload }), on);
});

test("horizontalAutoscaler() heeds an HPA's own annotation where pod and workload say nothing", () => {
  const { metadata } = sampleHPA();
  const silenced = sampleHPA({
    metadata: { ...metadata, name: "b", annotations: { [HPA_COORDINATION]: "false" } },
  });
  assert.deepEqual(effects(PAIR, { autoscalers: [silenced] }), []);
  const both = effects(PAIR, { autoscalers: [silenced, sampleHPA()] });
  assert.deepEqual(both, effects(PAIR, { autoscalers: [sampleHPA()] }));
  const workload = sampleWorkload({ annotations: { [HPA_COORDINATION]: "true" } });
  assert.equal(effects(PAIR, { autoscalers: [silenced], workload }).length, 3);
});

test("horizontalAutoscaler() never gives less than 1.2 times the aim, and at most a step more", () => {
  const request = fc.integer({ min: 1, max: 64_000 });
  fc.assert(fc.property(request, fc.integer({ min: 1, max: 300 }), (requestCPU, percent) => {
    const [found] = floors([sampleContainer({ requests: { cpu: requestCPU } })], {
      utilization: percent / 100,
    });
    const wanted = 1.2 * requestCPU * percent / 100;
    const floor = Number(found?.[1]);
    assert.ok(floor >= wanted - 1e-6 && floor < wanted + 1 + 1e-6, `${floor} for ${wanted}`);
  }));
});
