import assert from "node:assert/strict";
import {
  clampsOf,
  type FactsChoice,
  MI,
  outcomeOf,
  recommendation,
  templateContainer,
  workloadPod,
} from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const { limitCPU: _cpu, limitMemory: _memory, ...open } = templateContainer();
const containers = [open, { ...open, name: "log" }];

/** On a node of so much. */
function on(allocatableCPU: number, allocatableMemory: number): FactsChoice {
  const node = { allocatableCPU, allocatableMemory, pressures: [] };
  return {
    containers,
    nodes: new Map([["node-1", node]]),
    recommendations: [
      recommendation({ cpu: 900, memory: 264 * MI }),
      recommendation({ container: "log", cpu: 500, memory: 64 * MI }),
    ],
  };
}

test("overNodes() cuts the raises of a pod to what its node has", () => {
  assert.equal(
    outcomeOf(on(1400, 1024 * MI)),
    "InPlace: app cpu 900m, app memory 264Mi, log cpu 500m",
  );
  assert.equal(
    outcomeOf(on(800, 1024 * MI)),
    "InPlace: app cpu 500m, app memory 264Mi, log cpu 300m",
  );
  assert.equal(
    outcomeOf(on(1400, 228 * MI)),
    "InPlace: app cpu 900m, app memory 164Mi, log cpu 500m",
  );
  assert.match(
    clampsOf(on(800, 1024 * MI)).join(),
    /OverNodes NodeCapacity: .*node-1 .*800m .*cpu, .*web-1 .*1400m/,
  );
});

test("overNodes() takes back what is in force and can't be had, and no request below the template's", () => {
  const inForce = new Map([["app", { requestCPU: 900 }], ["log", { requestCPU: 500 }]]);
  const pods = [
    workloadPod("web-1", [{ ...open, requestCPU: 900 }, { ...open, name: "log", requestCPU: 500 }]),
  ];
  assert.match(
    outcomeOf({ ...on(800, 1024 * MI), inForce, pods }),
    /^InPlace: app cpu 500m, .*log cpu 300m$/,
  );
  assert.match(
    outcomeOf({ ...on(150, 1024 * MI), inForce, pods }),
    /^InPlace: app cpu 100m, .*log cpu 100m$/,
  );
});

test("overNodes() cuts nothing for a pod that lacks what is in force, and tells of it", () => {
  const inForce = new Map([["app", { requestCPU: 900 }], ["log", { requestCPU: 500 }]]);
  const there = [{ ...open, requestCPU: 900 }, { ...open, name: "log", requestCPU: 500 }];
  const late = { ...workloadPod("late", containers), nodeName: "small" };
  const small = { allocatableCPU: 800, pressures: [] };
  const choice = {
    ...on(2000, 1024 * MI),
    inForce,
    pods: [workloadPod("web-1", there), late],
  };
  const nodes = new Map([...choice.nodes ?? [], ["small", small]]);
  assert.equal(outcomeOf({ ...choice, nodes }), "InPlace: app memory 264Mi");
  assert.match(
    clampsOf({ ...choice, nodes }).join(),
    /NodeCapacity: .*small .*800m .*cpu, .*late .*1400m, .*stays/,
  );
});

test("overNodes() asks the largest node for those to come, and for the template", () => {
  const largestNode = { allocatableCPU: 800, allocatableMemory: Infinity };
  const choice = { ...on(0, 0), largestNode };
  const cut = "app cpu 500m, app memory 264Mi, log cpu 300m";
  assert.equal(outcomeOf({ ...choice, pods: [] }), `InPlace: ${cut}`);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.equal(outcomeOf({ ...choice, strategy }), `Recreate: ${cut}`);
  assert.match(clampsOf(choice).join(), / NodeCapacity: .*largest .*800m .*cpu, new pods /);
});

test("overNodes() says nothing of nodes that do not tell, and of pods that are made anew", () => {
  const all = "app cpu 900m, app memory 264Mi, log cpu 500m";
  assert.equal(outcomeOf({ ...on(0, 0), nodes: new Map() }), `InPlace: ${all}`);
  assert.equal(outcomeOf(on(0, 0)), `InPlace: ${all}`);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.equal(outcomeOf({ ...on(800, 1024 * MI), strategy }), `Recreate: ${all}`);
});
