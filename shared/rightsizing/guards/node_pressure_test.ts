import assert from "node:assert/strict";
import type { NodePressure } from "../../api/node.ts";
import { MI, outcomeOf, recommendation } from "../../../tests/fixtures/rightsizing_facts.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

const nodes = (...pressures: NodePressure[]) => new Map([["node-1", { pressures }]]);

test("nodeUnderPressure() leaves out raises on a node that is short of something, and names it", () => {
  for (const pressure of ["MemoryPressure", "DiskPressure", "PIDPressure"] as const) {
    const [cpu, memory, ...more] = outcomeOf({ nodes: nodes(pressure) }).split("; ");
    assert.match(cpu ?? "", /^NodeUnderPressure NodePressure: .*app cpu: .*node-1 /);
    assert.match(memory ?? "", /app memory: .*node-1 /);
    assert.ok(cpu?.endsWith(pressure) && memory?.endsWith(pressure));
    assert.deepEqual(more, []);
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
