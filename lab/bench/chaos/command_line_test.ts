import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

const test = (name: string, fn: () => void): void => Deno.test({ name, permissions: "none", fn });

const PROGRAM = { name: "test:soak", about: "Soaks.", minutes: 30, leastMinutes: 3 };

test("parseCommandLine() has defaults, and takes length, seed and format", () => {
  const defaults = { json: false, minutes: 30, seed: 1, fullGc: false };
  assert.deepEqual(parseCommandLine([], PROGRAM), defaults);
  const args = ["--", "--minutes", "3", "--seed", "7", "--json"];
  const chosen = { json: true, minutes: 3, seed: 7, fullGc: false };
  assert.deepEqual(parseCommandLine(args, PROGRAM), chosen);
  const collecting = parseCommandLine(["--full-gc"], { ...PROGRAM, fullGc: "collects" });
  assert.deepEqual(collecting, { ...defaults, fullGc: true });
});

test("parseCommandLine() refuses too short a run, and has a help", () => {
  const refused = parseCommandLine(["--minutes", "2"], PROGRAM);
  assert.ok("exitCode" in refused && refused.exitCode === 2);
  assert.match(refused.text, /3 or more/);
  assert.ok("exitCode" in parseCommandLine(["--full-gc"], PROGRAM), "chaos has no such flag");
  const help = parseCommandLine(["--help"], PROGRAM);
  assert.ok("exitCode" in help && help.exitCode === 0);
});
