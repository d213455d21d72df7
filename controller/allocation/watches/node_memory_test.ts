import assert from "node:assert/strict";
import type { Node } from "../../../shared/api/node.ts";
import { sampleNode } from "../../../tests/contract/support/sample_objects.ts";
import { createNodeMemory } from "./node_memory.ts";

function test(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

/** Changes node `n` (undefined: takes it away) and asks. */
function stage(first?: Node): (node: Node | undefined) => boolean {
  let present = first;
  const isAnother = createNodeMemory({
    all: () => present === undefined ? [] : [present],
    get: (name) => name === "n" ? present : undefined,
  });
  return (node) => {
    present = node;
    return isAnother("n");
  };
}

const NODE = sampleNode("n");

test("createNodeMemory() reports what concerns pods, and of nothing else", () => {
  const change = stage(NODE);
  assert.equal(change(NODE), false);
  assert.equal(change({ ...NODE, allocatableCPU: 2000, pressures: ["MemoryPressure"] }), false);
  const others: readonly Partial<Node>[] = [
    { ready: false },
    { draining: true },
    { kubeletVersion: "v1.30.1" },
    { os: "windows" },
  ];
  for (const other of others) {
    assert.deepEqual([change({ ...NODE, ...other }), change({ ...NODE, ...other })], [true, false]);
    assert.equal(change(NODE), true);
  }
  // An upgrade from one kubelet that resizes to another is nothing to the pods.
  assert.equal(change({ ...NODE, kubeletVersion: "v1.35.0" }), false);
});

test("createNodeMemory() reports nodes that come and go, once", () => {
  const change = stage();
  assert.deepEqual([change(NODE), change(NODE)], [true, false]);
  assert.deepEqual([change(undefined), change(undefined)], [true, false]);
  assert.deepEqual([change(NODE), change(NODE)], [true, false]);
});
