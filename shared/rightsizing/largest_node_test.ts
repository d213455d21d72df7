import assert from "node:assert/strict";
import { largestNode } from "./largest_node.ts";

Deno.test({
  name: "largestNode() is the most of each resource, any amount where a node does not tell",
  permissions: "none",
  fn() {
    const [small, large] = [
      { allocatableCPU: 2000, allocatableMemory: 9000 },
      { allocatableCPU: 4000, allocatableMemory: 8000 },
    ];
    assert.deepEqual(largestNode([small, large]), {
      allocatableCPU: 4000,
      allocatableMemory: 9000,
    });
    assert.deepEqual(largestNode([small, { allocatableCPU: 0 }]), {
      allocatableCPU: Infinity,
      allocatableMemory: Infinity,
    });
    assert.equal(largestNode([]), undefined);
  },
});
