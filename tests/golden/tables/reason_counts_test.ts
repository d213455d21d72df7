import assert from "node:assert/strict";
import { reasonCounts } from "./reason_counts.ts";

function problems(found: readonly string[], impossible: Readonly<Record<string, string>> = {}) {
  return reasonCounts({ found, expected: ["Applied", "PodGone"], impossible }).problems;
}

Deno.test({
  name: "reasonCounts() finds reasons that are too rare, unless they are listed as impossible",
  permissions: "none",
  fn() {
    const applied = ["Applied", "Applied", "Applied"];
    assert.deepEqual(problems([...applied, "PodGone"]), [
      "reason PodGone occurs in 1 rows, expected at least 3",
    ]);
    assert.deepEqual(problems(applied, { PodGone: "it is gone" }), []);
    assert.deepEqual(problems([...applied, "PodGone"], { PodGone: "it is gone" }), [
      "reason PodGone occurs, though it is listed as impossible",
    ]);
  },
});
