import assert from "node:assert/strict";
import { bareContainer, MI } from "../../../tests/fixtures/rightsizing/rightsizing_facts.ts";
import { nodeShortages } from "./node_capacity.ts";

Deno.test({
  name: "nodeShortages() are what a pod requests above the known allocatable of its node",
  permissions: "none",
  fn() {
    const one = bareContainer("app", { requests: { cpu: 300, memory: 64 * MI }, limits: {} });
    const pod = { containers: [one, { ...one, name: "log" }], initContainers: [] };
    assert.deepEqual(nodeShortages(pod, { allocatableCPU: 500, allocatableMemory: 128 * MI }), [
      { resource: "cpu", most: 500, total: 600 },
    ]);
    assert.deepEqual(nodeShortages(pod, { allocatableCPU: 600, allocatableMemory: 100 * MI }), [
      { resource: "memory", most: 100 * MI, total: 128 * MI },
    ]);
    assert.deepEqual(nodeShortages(pod, { allocatableCPU: 0 }), []);
    assert.deepEqual(nodeShortages(pod, undefined), []);
  },
});
