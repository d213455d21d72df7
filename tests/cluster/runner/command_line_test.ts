import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";
import { SUITE_TABLE } from "./suite_table.ts";

const HEAD = "00000002aaaa";
const parse = (...args: string[]) => parseCommandLine(args, () => HEAD);

/** The layers that are run, with their flags. */
function layersOf(...args: string[]): readonly unknown[] {
  const request = parse(...args);
  assert.ok(request.action !== "text", JSON.stringify(request));
  return [[...new Set(request.files.map(({ layer }) => layer))], request.again];
}

Deno.test("parseCommandLine() chooses the core and the commit's rotation", () => {
  assert.deepEqual(layersOf(), [["core", 3], "--core --rotation 3"]);
  assert.deepEqual(layersOf("--commit", "00000003"), [["core", 4], "--core --rotation 4"]);
  const request = parse();
  assert.ok(request.action === "run");
  assert.equal(request.choice, "core and rotation 3, by commit 00000002");
  assert.deepEqual([request.jobs, request.inside], [4, false]);
});

Deno.test("parseCommandLine() chooses what flags name", () => {
  assert.deepEqual(layersOf("--core"), [["core"], "--core"]);
  assert.deepEqual(layersOf("--rotation", "2"), [[2], "--rotation 2"]);
  assert.deepEqual(layersOf("--core", "--rotation", "2"), [["core", 2], "--core --rotation 2"]);
  assert.deepEqual(layersOf("--all"), [["core", 1, 2, 3, 4], "--all"]);
  const named = parse("--file", "market", "tests/cluster/crd_test.ts", "--jobs", "2");
  assert.ok(named.action === "run");
  assert.deepEqual(named.files.map(({ name }) => name), ["market", "crd"]);
  assert.deepEqual([named.again, named.jobs], ["--file market crd", 2]);
});

Deno.test("parseCommandLine() lists all files, or those that flags choose", () => {
  const all = parse("--list");
  assert.ok(all.action === "list");
  assert.equal(all.files, SUITE_TABLE);
  const core = parse("--list", "--core");
  assert.ok(core.action === "list");
  assert.ok(core.files.length < SUITE_TABLE.length);
});

Deno.test("parseCommandLine() gives help with exit code 0, and errors with 2", () => {
  const help = parse("--help");
  assert.ok(help.action === "text");
  assert.equal(help.exitCode, 0);
  for (const flag of ["--all", "--core", "--rotation", "--file", "--commit", "--jobs", "--list"]) {
    assert.ok(help.text.includes(flag), flag);
  }
  for (
    const [args, named] of [
      [["--retry"], "--retry"],
      [["market"], "argument"],
      [["--rotation", "5"], "1 to 4"],
      [["--jobs", "0"], "at least 1"],
      [["--commit", "HEAD"], "hexadecimal"],
      [["--file", "no_such"], "no_such"],
      [["--all", "--core"], "--core"],
      [["--commit", "00000000", "--core"], "--commit"],
    ] as const
  ) {
    const refused = parse(...args);
    assert.ok(refused.action === "text", args.join(" "));
    assert.equal(refused.exitCode, 2, args.join(" "));
    assert.ok(refused.text.includes(named), refused.text);
  }
});
