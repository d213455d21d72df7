import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

Deno.test("parseCommandLine() has defaults for all, and takes algorithms in the order given", () => {
  assert.deepEqual(parseCommandLine([]), {
    json: false,
    minutes: 15,
    seed: 1,
    load: 320,
    algorithms: ["static", "hpa", "vpa", "ours"],
    results: "build/real-node",
    report: false,
  });
  const given = parseCommandLine([
    "--",
    "--algorithms",
    "vpa,static",
    "--minutes",
    "2",
    "--report",
  ]);
  assert.ok("algorithms" in given);
  assert.deepEqual([given.algorithms, given.minutes, given.report], [["vpa", "static"], 2, true]);
});

Deno.test("parseCommandLine() answers an algorithm that there is none of with exit code 2", () => {
  const answer = parseCommandLine(["--algorithms", "captain"]);
  assert.ok("exitCode" in answer);
  assert.equal(answer.exitCode, 2);
  assert.match(answer.text, /captain.* static, .* ours/);
});
