import assert from "node:assert/strict";
import {
  clampsOf,
  MI,
  outcomeOf,
  recommendation,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

test("requestAboveLimit() cuts requests at the limit that stays, and says so", () => {
  const recommendations = [recommendation({ cpu: 500, memory: 512 * MI })];
  assert.equal(
    outcomeOf({
      containers: [templateContainer(), templateContainer({ name: "log" })],
      recommendations,
    }),
    "InPlace: app cpu 200m, app memory 128Mi",
  );
  assert.match(
    clampsOf({
      containers: [templateContainer(), templateContainer({ name: "log" })],
      recommendations,
    })
      .join(),
    /RequestAboveLimit: .*app cpu request 500m to 200m, app memory request 512Mi to 128Mi/,
  );
  assert.deepEqual(clampsOf(), []);
});

test("requestAboveLimit() passes a request when its limit moves, or when it has none", () => {
  const recommendations = [recommendation({ cpu: 500, cpuLimit: 600 })];
  const strategy = { updateRequestsOnly: false };
  assert.equal(
    outcomeOf({ recommendations, strategy }),
    "InPlace: app cpu 500m (limit 600m), app memory 96Mi (limit 112Mi)",
  );
  const unlimited = { ...templateContainer(), limits: { memory: 128 * MI } };
  assert.equal(
    outcomeOf({ containers: [unlimited], recommendations }),
    "InPlace: app cpu 500m, app memory 96Mi",
  );
});

test("requestAboveLimit() heeds the least limit of all pods, also one that the market has set", () => {
  const template = templateContainer({ limits: { cpu: 1000 } });
  const low = workloadPod("web-1", [templateContainer({ limits: { cpu: 130 } })]);
  const facts = { containers: [template], pods: [low], marketManages: true };
  assert.equal(outcomeOf(facts), "InPlace: app cpu 130m, app memory 96Mi");
});

test("requestAboveLimit() holds where the pod as a whole may have no more", () => {
  const { workload } = rightsizingFacts();
  const podLevel = { requests: { cpu: 120 }, limits: { cpu: 400 } };
  const template = { ...workload.template, podLevel };
  const held = outcomeOf({ workload: { ...workload, template }, pods: [] });
  assert.match(held, /^RequestAboveLimit PodLevelLimit: new pods .*120m of cpu, .*150m$/);
  const roomy = { ...template, podLevel: { requests: { cpu: 150 }, limits: { cpu: 400 } } };
  assert.match(outcomeOf({ workload: { ...workload, template: roomy }, pods: [] }), /^InPlace: /);
});
