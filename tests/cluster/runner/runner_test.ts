import assert from "node:assert/strict";
import { parseCommandLine } from "./command_line.ts";
import {
  type Lane,
  rotationOf,
  ROTATIONS,
  runSuite,
  SUITE_TABLE,
  type SuiteFile,
} from "./suite_table.ts";
import {
  addSums,
  fileTable,
  indented,
  NO_TESTS,
  resultTable,
  summaryLine,
  sumsOf,
} from "./file_process.ts";

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
  for (const flag of ["--all", "--core", "--rotation", "--file", "--jobs", "--list"]) {
    assert.ok(help.text.includes(flag), flag);
  }
  for (
    const [args, named] of [
      [["--retry"], "--retry"],
      [["market"], "argument"],
      [["--rotation", "5"], "1 to 4"],
      [["--jobs", "0"], "at least 1"],
      [["--file", "no_such"], "no_such"],
      [["--all", "--core"], "--core"],
      [["--file", "crd", "--core"], "--file"],
    ] as const
  ) {
    const refused = parse(...args);
    assert.ok(refused.action === "text", args.join(" "));
    assert.equal(refused.exitCode, 2, args.join(" "));
    assert.ok(refused.text.includes(named), refused.text);
  }
});

const MARKET: SuiteFile = { name: "market", layer: "core", lane: "node", seconds: 110 };
const CRD: SuiteFile = { name: "crd", layer: 2, lane: "beside", seconds: 9 };

Deno.test("fileTable() has a row for each file", () => {
  assert.deepEqual(fileTable([MARKET, CRD]).split("\n"), [
    "  market  core        node    110 s",
    "  crd     rotation 2  beside  9 s",
  ]);
});

Deno.test("resultTable() has the longest file first", () => {
  const sums = { passed: 4, failed: 1, ignored: 0 };
  const results = [
    { file: CRD, sums, ms: 900, output: "" },
    { file: MARKET, sums, ms: 101_000, output: "" },
  ];
  assert.deepEqual(resultTable(results).split("\n"), [
    "  market  node    101.0 s  4 passed  1 failed  0 ignored",
    "  crd     beside  0.9 s    4 passed  1 failed  0 ignored",
  ]);
});

Deno.test("indented() leaves no summary line at the left", () => {
  const text = indented("running\n\nok | 1 passed | 0 failed (1s)\n");
  assert.equal(text, "    running\n\n    ok | 1 passed | 0 failed (1s)");
  assert.doesNotMatch(text, /^(ok|FAILED) \| [0-9]+ passed/m);
});

function fileOf(lane: Lane, index: number): SuiteFile {
  return { name: `${lane}_${index}`, layer: "core", lane, seconds: index };
}

const LANES: readonly Lane[] = ["alone", "timed", "components", "node", "beside"];
const FILES = LANES.flatMap((lane) => [1, 2, 3, 4, 5].map((index) => fileOf(lane, index)));

/** Runs the files and returns what ran at the same time, at each start; `components` while installed. */
async function play(
  jobs: number,
  { abortAfter = Infinity }: { readonly abortAfter?: number } = {},
): Promise<{ readonly starts: readonly (readonly string[])[]; readonly ran: readonly string[] }> {
  const running = new Set<string>();
  const starts: string[][] = [];
  const ran: string[] = [];
  const end = new AbortController();
  await runSuite(FILES, {
    jobs,
    signal: end.signal,
    async runFile({ name, seconds }) {
      running.add(name);
      starts.push([...running]);
      ran.push(name);
      if (ran.length === abortAfter) end.abort();
      for (let turn = 0; turn < seconds; turn++) await Promise.resolve();
      running.delete(name);
    },
    installComponents() {
      running.add("installed");
      return Promise.resolve({
        [Symbol.asyncDispose]() {
          running.delete("installed");
          return Promise.resolve();
        },
      });
    },
  });
  return { starts, ran };
}

for (const jobs of [1, 2, 4]) {
  Deno.test(`runSuite() runs each file once and keeps lanes apart, with ${jobs} jobs`, async () => {
    const { starts, ran } = await play(jobs);
    assert.deepEqual(ran.toSorted(), FILES.map(({ name }) => name).toSorted());
    for (const names of starts) {
      const of = (lane: string): number => names.filter((name) => name.startsWith(lane)).length;
      const isInstalled = names.includes("installed");
      const running = names.length - (isInstalled ? 1 : 0);
      assert.ok(running <= jobs, names.join());
      assert.ok(of("node") <= 1, names.join());
      assert.equal(of("components") + of("timed") > 0, isInstalled, names.join());
      if (of("components") > 0) assert.equal(of("components"), running, names.join());
      if (of("timed") > 0) assert.equal(running, 1, names.join());
      if (of("alone") > 0) assert.equal(running, 1, names.join());
    }
    const most = Math.max(...starts.map(({ length }) => length));
    assert.equal(most, jobs + 1);
  });
}

Deno.test("runSuite() starts the longest file of a lane first", async () => {
  const { ran } = await play(1);
  assert.deepEqual(ran.slice(0, 6), ["node_5", "node_4", "node_3", "node_2", "node_1", "beside_5"]);
});

Deno.test("runSuite() starts nothing after the end was asked for", async () => {
  const { ran } = await play(1, { abortAfter: 3 });
  assert.equal(ran.length, 3);
});

const FOLDER = new URL("../", import.meta.url);

Deno.test("SUITE_TABLE names each test file once", () => {
  const files = [...Deno.readDirSync(FOLDER)].map(({ name }) => name)
    .filter((name) => name.endsWith("_test.ts")).toSorted();
  assert.deepEqual(SUITE_TABLE.map(({ name }) => `${name}_test.ts`).toSorted(), files);
});

Deno.test("SUITE_TABLE has a core and all rotations", () => {
  const layers = new Set(SUITE_TABLE.map(({ layer }) => layer));
  assert.deepEqual([...layers], ["core", 1, 2, 3, 4]);
  assert.equal(layers.size, 1 + ROTATIONS);
});

Deno.test("rotationOf() takes the first eight digits of the hash modulo the rotations", () => {
  const hashes = ["00000000", "00000005ffff", "ffffffff0000", "e68c623ab"];
  assert.deepEqual(hashes.map(rotationOf), [1, 2, 4, 3]);
  assert.throws(() => rotationOf("HEAD"), { name: "RangeError", message: /HEAD/ });
});

const OUTPUT = "running 1 test\nok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n\n";
const FAILURES = "FAILED | 2 passed | 3 failed (4 steps) (2s)\nerror: Test failed\n";

Deno.test("sumsOf() reads Deno's summary line", () => {
  assert.deepEqual(sumsOf(OUTPUT, 0), { passed: 12, failed: 0, ignored: 1 });
  assert.deepEqual(sumsOf(FAILURES, 1), { passed: 2, failed: 3, ignored: 0 });
});

Deno.test("sumsOf() counts a process that fails without a failed test as one failure", () => {
  assert.deepEqual(sumsOf(OUTPUT, 1), { passed: 12, failed: 1, ignored: 1 });
  assert.deepEqual(sumsOf("error: not found\n", 1), { ...NO_TESTS, failed: 1 });
  assert.deepEqual(sumsOf("", 0), { ...NO_TESTS, failed: 1 });
});

Deno.test("summaryLine() adds up to what the checks read", () => {
  const sums = addSums(sumsOf(OUTPUT, 0), sumsOf(FAILURES, 1));
  assert.equal(summaryLine(sums, 61_400), "FAILED | 14 passed | 3 failed | 1 ignored (1m1s)");
  assert.equal(summaryLine(NO_TESTS, 900), "ok | 0 passed | 0 failed | 0 ignored (1s)");
});
