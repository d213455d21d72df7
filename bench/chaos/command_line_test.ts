import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";

const test = (name: string, fn: () => void): void => Deno.test({ name, permissions: "none", fn });

const PROGRAM = { name: "test:soak", about: "Soaks.", minutes: 30, leastMinutes: 3 };

test("parseCommandLine() has defaults, and takes length, seed and format", () => {
  assert.deepEqual(parseCommandLine([], PROGRAM), { json: false, minutes: 30, seed: 1 });
  const args = ["--", "--minutes", "3", "--seed", "7", "--json"];
  assert.deepEqual(parseCommandLine(args, PROGRAM), { json: true, minutes: 3, seed: 7 });
});

test("parseCommandLine() refuses too short a run, and has a help", () => {
  const refused = parseCommandLine(["--minutes", "2"], PROGRAM);
  assert.ok("exitCode" in refused && refused.exitCode === 2);
  assert.match(refused.text, /3 or more/);
  const help = parseCommandLine(["--help"], PROGRAM);
  assert.ok("exitCode" in help && help.exitCode === 0);
});
