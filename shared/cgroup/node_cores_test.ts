import assert from "node:assert/strict";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { readNodeCores } from "./node_cores.ts";

Deno.test({
  name: "readNodeCores() counts the root's CPUs in either version",
  permissions: "none",
  fn() {
    const of = (files: Record<string, string>) => readNodeCores(createMemoryTree(files));
    assert.equal(of({ "cpuset.cpus.effective": "0-3,8\n" }), 5);
    assert.equal(of({ "cpuset/cpuset.effective_cpus": "0-1\n" }), 2);
    assert.equal(of({ "cpuset/cpuset.effective_cpus": "\n", "cpuset/cpuset.cpus": "0-7\n" }), 8);
    assert.equal(of({}), undefined);
    assert.throws(() => of({ "cpuset/cpuset.cpus": "all\n" }), /cpuset\.cpus: line 1 is "all"/);
  },
});
