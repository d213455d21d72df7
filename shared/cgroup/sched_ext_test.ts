import assert from "node:assert/strict";
import { openCgroupTree } from "../../adapters/cgroup_files.ts";
import { ignoresLimits } from "./sched_ext.ts";

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
