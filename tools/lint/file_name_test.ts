import assert from "node:assert/strict";
import { fileName } from "./file_name.ts";
import { lintSource } from "./lint_source.ts";

const messages = (path: string): string[] => lintSource(fileName, { path, source: "f();" });

Deno.test("fileName accepts snake_case that names a thing", () => {
  for (
    const path of [
      "shared/clock.ts",
      "shared/clock_test.ts",
      "shared/pod_allocation.ts",
      "shared/cgroup/v2_layout.ts",
      "lab/simulation/jain_index.ts",
      "lab/bench/solver_bench.ts",
    ]
  ) {
    assert.deepEqual(messages(path), [], path);
  }
});

Deno.test("fileName refuses names that fit any content", () => {
  for (
    const name of [
      "utils",
      "helpers",
      "common",
      "manager",
      "misc",
      "types",
      "constants",
      "index",
      "mod",
      "pod_utils",
      "types_test",
    ]
  ) {
    assert.equal(messages(`shared/${name}.ts`).length, 1, name);
    assert.match(messages(`shared/${name}.ts`).join(), new RegExp(` ${name}\\.ts .*content`));
  }
});

Deno.test("fileName refuses other cases than snake_case", () => {
  for (const base of ["podAllocation.ts", "pod-allocation.ts", "Pod.ts", "pod__a.ts", "_pod.ts"]) {
    assert.equal(messages(`shared/${base}`).length, 1, base);
    assert.match(messages(`shared/${base}`).join(), new RegExp(` ${base} .*snake_case`));
  }
});
