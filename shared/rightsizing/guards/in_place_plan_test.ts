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
  ["app", { requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180 } }],
]);
const app = { name: "app", sidecar: false };

test("inPlacePlan() changes each pod that differs, in what differs", () => {
  const there = templateContainer({
    requests: { cpu: 150, memory: 96 * MI },
    limits: { cpu: 180 },
  });
  const half = templateContainer({ requests: { cpu: 150 }, limits: { cpu: 180 } });
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
        changes: [{ ...app, requests: { cpu: 150, memory: 96 * MI }, limits: { cpu: 180 } }],
      },
      { name: "half", changes: [{ ...app, requests: { memory: 96 * MI }, limits: {} }] },
    ],
  );
  assert.deepEqual(plan.originalLimits, new Map());
});

test("inPlacePlan() leaves out who would ask its node for more than it has, and no one who asks for less", () => {
  const pods = [
    workloadPod("short", [templateContainer()]),
    workloadPod("above", [templateContainer({ requests: { cpu: 200 } })]),
  ];
  const nodes = new Map([["node-1", { allocatableCPU: 149, pressures: [] }]]);
  const facts = rightsizingFacts({ pods, nodes });
  assert.deepEqual(inPlacePlan(facts, wanted).pods.map(({ pod }) => pod.metadata.name), ["above"]);
  const memory = new Map([["app", { requests: { memory: 96 * MI }, limits: {} }]]);
  assert.equal(inPlacePlan(facts, memory).pods.length, 2);
});

test("inPlacePlan() hands the CPU limit out where the market owns it", () => {
  const plan = inPlacePlan(rightsizingFacts({ marketManages: true }), wanted);
  assert.deepEqual(plan.originalLimits, new Map([["app", 180]]));
  for (const { changes } of plan.pods) {
    assert.deepEqual(changes, [{ ...app, requests: { cpu: 150, memory: 96 * MI }, limits: {} }]);
  }
  const requests = new Map([["app", { requests: { cpu: 150 }, limits: {} }]]);
  const only = inPlacePlan(rightsizingFacts({ marketManages: true }), requests);
  assert.deepEqual(only.originalLimits, new Map());
});

test("inPlacePlan() leaves all CPU of a Guaranteed pod of the market to the market", () => {
  const containers = [templateContainer({ requests: { cpu: 200, memory: 128 * MI } })];
  const facts = rightsizingFacts({ containers, marketManages: true });
  const both = new Map([["app", {
    requests: { cpu: 150, memory: 96 * MI },
    limits: { cpu: 150, memory: 96 * MI },
  }]]);
  const plan = inPlacePlan(facts, both);
  assert.deepEqual(plan.pods[0]?.changes, [
    { ...app, requests: { memory: 96 * MI }, limits: { memory: 96 * MI } },
  ]);
  assert.deepEqual(plan.originalLimits, new Map([["app", 150]]));
});

test("inPlacePlan() puts its values into force for new pods, and keeps those of before", () => {
  const inForce = new Map([
    ["app", { requests: { cpu: 90 }, limits: { memory: 256 * MI } }],
    ["log", { requests: { cpu: 20 }, limits: {} }],
  ]);
  const plan = inPlacePlan(rightsizingFacts({ inForce, pods: [] }), wanted);
  assert.deepEqual(plan.pods, []);
  assert.deepEqual(
    plan.inForce,
    new Map<string, object>([
      ["app", { requests: { cpu: 150, memory: 96 * MI }, limits: { memory: 256 * MI, cpu: 180 } }],
      ["log", { requests: { cpu: 20 }, limits: {} }],
    ]),
  );
});
