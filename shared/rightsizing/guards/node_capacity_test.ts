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
    /OverNodes NodeCapacity: node node-1 has 800m of cpu, pod web-1 would request 1400m/,
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

test("overNodes() says nothing of nodes that do not tell, and of pods that are made anew", () => {
  const all = "app cpu 900m, app memory 264Mi, log cpu 500m";
  assert.equal(outcomeOf({ ...on(0, 0), nodes: new Map() }), `InPlace: ${all}`);
  assert.equal(outcomeOf(on(0, 0)), `InPlace: ${all}`);
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.equal(outcomeOf({ ...on(800, 1024 * MI), strategy }), `Recreate: ${all}`);
});
