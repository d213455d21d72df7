import assert from "node:assert/strict";
import type { NodePressure } from "../../api/node.ts";
import { MI, outcomeOf, recommendation } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const nodes = (...pressures: NodePressure[]) => new Map([["node-1", { pressures }]]);

test("nodeUnderPressure() leaves out raises on a node that is short of something, and names it", () => {
  for (const pressure of ["MemoryPressure", "DiskPressure", "PIDPressure"] as const) {
    assert.equal(
      outcomeOf({ nodes: nodes(pressure) }),
      `NodeUnderPressure NodePressure: no raise of app cpu: node node-1 has ${pressure}; ` +
        `no raise of app memory: node node-1 has ${pressure}`,
    );
  }
  assert.match(outcomeOf({ nodes: nodes() }), /^InPlace: /);
  assert.match(outcomeOf({ nodes: new Map() }), /^InPlace: /);
});

test("nodeUnderPressure() lets decreases go on", () => {
  const recommendations = [recommendation({ cpu: 150, memory: 32 * MI })];
  assert.equal(
    outcomeOf({ recommendations, nodes: nodes("MemoryPressure") }),
    "InPlace: app memory 32Mi",
  );
});

test("nodeUnderPressure() takes a higher limit for a raise, also beside a lower request", () => {
  const recommendations = [
    recommendation({ cpu: 80, cpuLimit: 300, memory: 32 * MI, memoryLimit: 64 * MI }),
  ];
  const strategy = { updateRequestsOnly: false };
  assert.equal(
    outcomeOf({ recommendations, strategy, nodes: nodes("PIDPressure") }),
    "InPlace: app memory 32Mi (limit 64Mi)",
  );
});

test("nodeUnderPressure() holds raises by recreation, too", () => {
  const strategy = { allowInPlaceResize: false, allowRecreate: true };
  assert.match(outcomeOf({ strategy, nodes: nodes("DiskPressure") }), /^NodeUnderPressure /);
});
