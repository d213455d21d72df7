import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

Deno.test("parseCommandLine() has defaults for all, and takes algorithms in the order given", () => {
  assert.deepEqual(parseCommandLine([]), {
    json: false,
    minutes: 15,
    seed: 1,
    load: 320,
    laws: ["static", "hpa", "vpa", "ours"],
    results: "build/real-node",
    report: false,
  });
  const given = parseCommandLine(["--", "--laws", "vpa,static", "--minutes", "2", "--report"]);
  assert.ok("laws" in given);
  assert.deepEqual([given.laws, given.minutes, given.report], [["vpa", "static"], 2, true]);
});

Deno.test("parseCommandLine() answers an algorithm that there is none of with exit code 2", () => {
  const answer = parseCommandLine(["--laws", "captain"]);
  assert.ok("exitCode" in answer);
  assert.equal(answer.exitCode, 2);
  assert.match(answer.text, /captain.* static, .* ours/);
});
