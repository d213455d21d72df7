import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

Deno.test("parseCommandLine() has defaults for all, and takes algorithms in the order given", () => {
  assert.deepEqual(parseCommandLine([]), {
    json: false,
    minutes: 10,
    runs: 3,
    seed: 1,
    algorithms: ["fixed", "none", "hpa", "coallocator"],
    results: "build/real-apps",
    report: false,
  });
  const given = parseCommandLine(["--", "--algorithms", "hpa,none", "--minutes", "2", "--report"]);
  assert.ok("algorithms" in given);
  assert.deepEqual([given.algorithms, given.minutes, given.report], [["hpa", "none"], 2, true]);
});

Deno.test("parseCommandLine() answers an unknown algorithm, and runs too short for a round", () => {
  for (const args of [["--algorithms", "vpa"], ["--minutes", "1"]]) {
    const answer = parseCommandLine(args);
    assert.ok("exitCode" in answer);
    assert.equal(answer.exitCode, 2);
  }
});
