import assert from "node:assert/strict";
import {
  MI,
  rightsizingFacts,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { inPlacePlan } from "./in_place_plan.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const wanted = new Map([
  ["app", { requestCPU: 150, limitCPU: 180, requestMemory: 96 * MI }],
]);
const app = { name: "app", sidecar: false };

test("inPlacePlan() changes each pod that differs, in what differs", () => {
  const there = templateContainer({ requestCPU: 150, limitCPU: 180, requestMemory: 96 * MI });
  const half = templateContainer({ requestCPU: 150, limitCPU: 180 });
  const pods = [
    workloadPod("old", [templateContainer(), templateContainer({ name: "log" })]),
    workloadPod("half", [half]),
    workloadPod("there", [there]),
  ];
  const plan = inPlacePlan(rightsizingFacts({ pods }), wanted);
  assert.deepEqual(
    plan.pods.map(({ pod: { metadata: { name } }, changes }) => ({ name, changes })),
    [
      {
        name: "old",
        changes: [{ ...app, requestCPU: 150, limitCPU: 180, requestMemory: 96 * MI }],
      },
      { name: "half", changes: [{ ...app, requestMemory: 96 * MI }] },
    ],
  );
  assert.deepEqual(plan.originalLimits, new Map());
});

test("inPlacePlan() leaves out who would ask its node for more than it has, and no one who asks for less", () => {
  const pods = [
    workloadPod("short", [templateContainer()]),
    workloadPod("above", [templateContainer({ requestCPU: 200 })]),
  ];
  const nodes = new Map([["node-1", { allocatableCPU: 149, pressures: [] }]]);
  const facts = rightsizingFacts({ pods, nodes });
  assert.deepEqual(inPlacePlan(facts, wanted).pods.map(({ pod }) => pod.metadata.name), ["above"]);
  const memory = new Map([["app", { requestMemory: 96 * MI }]]);
  assert.equal(inPlacePlan(facts, memory).pods.length, 2);
});

test("inPlacePlan() hands the CPU limit out where the market owns it", () => {
  const plan = inPlacePlan(rightsizingFacts({ marketManages: true }), wanted);
  assert.deepEqual(plan.originalLimits, new Map([["app", 180]]));
  for (const { changes } of plan.pods) {
    assert.deepEqual(changes, [{ ...app, requestCPU: 150, requestMemory: 96 * MI }]);
  }
  const requests = new Map([["app", { requestCPU: 150 }]]);
  const only = inPlacePlan(rightsizingFacts({ marketManages: true }), requests);
  assert.deepEqual(only.originalLimits, new Map());
});

test("inPlacePlan() leaves all CPU of a Guaranteed pod of the market to the market", () => {
  const containers = [templateContainer({ requestCPU: 200, requestMemory: 128 * MI })];
  const facts = rightsizingFacts({ containers, marketManages: true });
  const both = new Map([["app", {
    requestCPU: 150,
    limitCPU: 150,
    requestMemory: 96 * MI,
    limitMemory: 96 * MI,
  }]]);
  const plan = inPlacePlan(facts, both);
  assert.deepEqual(plan.pods[0]?.changes, [
    { ...app, requestMemory: 96 * MI, limitMemory: 96 * MI },
  ]);
  assert.deepEqual(plan.originalLimits, new Map([["app", 150]]));
});

test("inPlacePlan() puts its values into force for new pods, and keeps those of before", () => {
  const inForce = new Map([
    ["app", { limitMemory: 256 * MI, requestCPU: 90 }],
    ["log", { requestCPU: 20 }],
  ]);
  const plan = inPlacePlan(rightsizingFacts({ inForce, pods: [] }), wanted);
  assert.deepEqual(plan.pods, []);
  assert.deepEqual(
    plan.inForce,
    new Map<string, object>([
      ["app", { limitMemory: 256 * MI, requestCPU: 150, limitCPU: 180, requestMemory: 96 * MI }],
      ["log", { requestCPU: 20 }],
    ]),
  );
});
