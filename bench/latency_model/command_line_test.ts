import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

Deno.test({
  name: "parseCommandLine() reads options, also after a lone --, and has defaults",
  permissions: "none",
  fn() {
    assert.deepEqual(parseCommandLine([]), { json: false, runs: 300, seed: 1 });
    assert.deepEqual(parseCommandLine(["--", "--json", "--runs", "5", "--seed", "9"]), {
      json: true,
      runs: 5,
      seed: 9,
    });
  },
});

Deno.test({
  name: "parseCommandLine() answers --help with 0 and nonsense with 2",
  permissions: "none",
  fn() {
    const help = parseCommandLine(["--help"]);
    assert.ok("text" in help && help.exitCode === 0 && /recorded latencies/.test(help.text));
    const wrong = parseCommandLine(["--runs", "0"]);
    assert.ok("text" in wrong && wrong.exitCode === 2 && /whole number/.test(wrong.text));
  },
});
