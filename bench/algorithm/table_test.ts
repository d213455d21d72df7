import assert from "node:assert/strict";
import { algorithmTable } from "./table.ts";

Deno.test({
  name: "algorithmTable() has a line per design, and a dash where no limit followed a burst",
  permissions: "none",
  fn() {
    const crowd = { p99Ms: 900.4, throttledMsPerS: 12_000, changesPerPodMinute: 3.456 };
    const row = {
      costMedian: 1.024,
      costMost: 1.1,
      held: 4,
      changesPerPodMinute: 0.5,
      throttledMsPerS: 300,
      crowd,
    };
    const lines = algorithmTable([
      { name: "one", ...row, reactionMsMedian: 600, reactionMsP95: 700 },
      { name: "another", ...row },
    ]).split("\n");
    assert.deepEqual(lines.slice(1, 3).map((line) => line.split(/\s{2,}/)), [
      ["one", "1.02", "1.10", "4", "0.50", "300", "600", "700", "900", "12000", "3.46", "–"],
      ["another", "1.02", "1.10", "4", "0.50", "300", "–", "–", "900", "12000", "3.46", "–"],
    ]);
  },
});
