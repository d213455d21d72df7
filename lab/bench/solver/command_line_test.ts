import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

function pure(name: string, fn: () => void): void {
  Deno.test({ name, permissions: "none", fn });
}

pure("parseCommandLine() measures with the defaults when nothing is asked for", () => {
  assert.deepEqual({ ...parseCommandLine([]) }, {
    json: false,
    batches: 25,
    clearings: 1000,
    seed: 1,
  });
});

pure("parseCommandLine() takes every flag", () => {
  const args = ["--json", "--batches", "3", "--clearings", "7", "--seed", "9"];
  assert.deepEqual({ ...parseCommandLine(args) }, {
    json: true,
    batches: 3,
    clearings: 7,
    seed: 9,
  });
});

pure("parseCommandLine() answers --help with exit code 0", () => {
  const answer = parseCommandLine(["--help"]);
  assert.ok("exitCode" in answer);
  assert.equal(answer.exitCode, 0);
  for (const flag of ["--json", "--batches", "--clearings", "--seed"]) {
    assert.ok(answer.text.includes(flag));
  }
});

pure("parseCommandLine() answers a wrong command line with exit code 2 and names it", () => {
  const wrong: readonly [string[], string][] = [
    [["--nope"], "'--nope'"],
    [["extra"], "extra"],
    [["--batches", "0"], "'0' is invalid"],
    [["--seed", "x"], "'x' is invalid"],
  ];
  for (const [args, part] of wrong) {
    const answer = parseCommandLine(args);
    assert.ok("exitCode" in answer && answer.text.includes(part), args.join(" "));
    assert.equal(answer.exitCode, 2);
  }
});
