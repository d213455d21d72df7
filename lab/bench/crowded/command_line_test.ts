import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

Deno.test("parseCommandLine() has defaults for all, and takes algorithms in the order given", () => {
  assert.deepEqual(parseCommandLine([]), {
    json: false,
    minutes: 10,
    runs: 3,
    seed: 1,
    laws: ["with", "without"],
    results: "build/crowded",
    report: false,
  });
  const given = parseCommandLine(["--", "--laws", "without,with", "--runs", "1", "--seed", "2"]);
  assert.ok("laws" in given);
  assert.deepEqual([given.laws, given.runs, given.seed], [["without", "with"], 1, 2]);
});

Deno.test("parseCommandLine() answers an algorithm that there is none of with exit code 2, and asked for help with 0", () => {
  const answer = parseCommandLine(["--laws", "vpa"]);
  assert.ok("exitCode" in answer);
  assert.equal(answer.exitCode, 2);
  assert.match(answer.text, /vpa.* with, without/);
  const help = parseCommandLine(["--help"]);
  assert.ok("exitCode" in help && help.exitCode === 0);
  assert.match(help.text, /--minutes <n>/);
});
