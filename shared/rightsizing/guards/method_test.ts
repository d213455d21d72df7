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
import { inPlacePlan } from "./method.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const RECREATE = { allowRecreate: true };

test("noMethod() takes recreation where pods can't be resized in place, if it is allowed", () => {
  assert.match(outcomeOf(), /^InPlace: /);
  assert.match(outcomeOf({ resizeServed: false, strategy: RECREATE }), /^Recreate: /);
  assert.match(
    outcomeOf({ resizeServed: false }),
    /^NoMethod InPlaceResizeUnavailable: .*pods\/resize, .*allowRecreate/,
  );
  const neither = { allowInPlaceResize: false, allowRecreate: false };
  assert.match(outcomeOf({ strategy: neither }), /^NoMethod MethodNotAllowed: /);
});

test("noMethod() knows kubelets that can't, and pods that can't be resized at all", () => {
  const nodes = new Map([["node-1", { kubeletVersion: "v1.32.1", pressures: [] }]]);
  assert.match(
    outcomeOf({ nodes }),
    /^NoMethod InPlaceResizeUnavailable: pod web-1: .*node-1 .*v1\.32\.1/,
  );
  assert.match(outcomeOf({ nodes, strategy: RECREATE }), /^Recreate: /);
  const [pod] = rightsizingFacts().pods;
  assert.ok(pod !== undefined);
  assert.match(
    outcomeOf({ pods: [{ ...pod, windows: true }] }),
    /InPlaceResizeUnavailable: pod web-1/,
  );
});

test("noMethod() leaves out what would restart a container, or makes new pods where that is allowed", () => {
  const containers = [templateContainer({ restartsOnMemory: true })];
  assert.equal(outcomeOf({ containers }), "InPlace: app cpu 150m");
  assert.match(
    clampsOf({ containers }).join(),
    /NoMethod RestartPolicy: resizePolicy restarts app/,
  );
  assert.equal(
    outcomeOf({ containers, strategy: RECREATE }),
    "Recreate: app cpu 150m, app memory 96Mi",
  );
  const recommendations = [recommendation({ cpu: 100 })];
  assert.match(outcomeOf({ containers, recommendations }), /^NoMethod RestartPolicy: /);
  const cpuOnly = [recommendation({ memory: 64 * MI })];
  const strategy = RECREATE;
  assert.equal(
    outcomeOf({ containers, recommendations: cpuOnly, strategy }),
    "InPlace: app cpu 150m",
  );
});

test("noMethod() restarts no container for a value that a pod has already", () => {
  const containers = [templateContainer({ restartsOnMemory: true })];
  const there = templateContainer({ restartsOnMemory: true, requests: { memory: 96 * MI } });
  const pods = [workloadPod("web-1", [there])];
  assert.equal(
    outcomeOf({ containers, pods, strategy: RECREATE }),
    "InPlace: app cpu 150m, app memory 96Mi",
  );
});

test("noMethod() lowers no memory limit where the server does not", () => {
  const strategy = { updateRequestsOnly: false };
  const locked = { strategy, lowersMemoryLimits: false };
  assert.equal(outcomeOf(locked), "InPlace: app cpu 150m (limit 180m)");
  assert.match(clampsOf(locked).join(), /NoMethod MemoryLimitLocked: /);
  assert.match(outcomeOf({ strategy }), /memory 96Mi \(limit 112Mi\)/);
  const recommendations = [recommendation({ memory: 120 * MI, memoryLimit: 132 * MI })];
  assert.match(outcomeOf({ ...locked, recommendations }), /memory 120Mi \(limit 132Mi\)/);
  const recreate = { ...locked, strategy: { ...strategy, ...RECREATE } };
  assert.match(outcomeOf(recreate), /^Recreate: .*memory 96Mi \(limit 112Mi\)/);
});

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

test("inPlacePlan() leaves out pods that would request more than their node has, and no others", () => {
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
