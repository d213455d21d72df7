import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { createMemoryTree } from "../../tests/fixtures/memory_tree.ts";
import { ignoresLimits, readNodeCores } from "./node_files.ts";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";

pure("readNodeCores() counts the root's CPUs in either version", () => {
  const of = (files: Record<string, string>) => readNodeCores(createMemoryTree(files));
  assert.equal(of({ "cpuset.cpus.effective": "0-3,8\n" }), 5);
  assert.equal(of({ "cpuset/cpuset.effective_cpus": "0-1\n" }), 2);
  assert.equal(of({ "cpuset/cpuset.effective_cpus": "\n", "cpuset/cpuset.cpus": "0-7\n" }), 8);
  assert.equal(of({}), undefined);
  assert.throws(() => of({ "cpuset/cpuset.cpus": "all\n" }), /cpuset\.cpus: line 1 is "all"/);
});

Deno.test("ignoresLimits() follows the state of sched_ext in a tree of files", async () => {
  const root = await Deno.makeTempDir({ prefix: "kernel-" });
  try {
    using kernel = openCgroupTree(root);
    using absent = openCgroupTree(`${root}/nowhere`);
    assert.equal(ignoresLimits(kernel), false);
    await Deno.mkdir(`${root}/sched_ext`);
    assert.equal(ignoresLimits(kernel), false);
    for (
      const [state, ignores] of [
        ["disabled", false],
        ["enabling", true],
        ["enabled", true],
        ["disabling", true],
        ["disabled", false],
      ] as const
    ) {
      await Deno.writeTextFile(`${root}/sched_ext/state`, `${state}\n`);
      assert.equal(ignoresLimits(kernel), ignores, state);
    }
    assert.equal(ignoresLimits(absent), false);
  } finally {
    await Deno.remove(root, { recursive: true });
  }
});
