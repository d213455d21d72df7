import assert from "node:assert/strict";
import { assertMatches } from "../../fixtures/assert_matches.ts";
import { reasonCounts } from "./reason_counts.ts";

function problems(found: readonly string[], impossible: Readonly<Record<string, string>> = {}) {
  return reasonCounts({ found, expected: ["Applied", "PodGone"], impossible }).problems;
}

Deno.test({
  name: "reasonCounts() finds reasons that are too rare, unless they are listed as impossible",
  permissions: "none",
  fn() {
    const applied = ["Applied", "Applied", "Applied"];
    assertMatches(problems([...applied, "PodGone"]), [/PodGone.* 1 .* 3$/]);
    assert.deepEqual(problems(applied, { PodGone: "it is gone" }), []);
    assertMatches(problems([...applied, "PodGone"], { PodGone: "it is gone" }), [
      /PodGone.*impossible/,
    ]);
  },
});
