import assert from "node:assert/strict";
import { addSums, indented, NO_TESTS, summaryLine, sumsOf } from "./file_process.ts";
import { parseCommandLine } from "./main.ts";
import { type Lane, runSuite, SUITE_TABLE, type SuiteFile } from "./suite_table.ts";

Deno.test("parseCommandLine() chooses files by flags or by the commit, and refuses what it does not know", () => {
  const parse = (text: string) =>
    parseCommandLine(text.split(" ").filter(Boolean), () => "00000002aaaa");
  for (
    const [args, layers, again] of [
      ["", ["core", 3], "--core --rotation 3"],
      ["--rotation 2", [2], "--rotation 2"],
      ["--all", ["core", 1, 2, 3, 4], "--all"],
      ["--file market tests/cluster/crd_test.ts --jobs 2", ["core"], "--file market crd"],
    ] as const
  ) {
    const chosen = parse(args);
    assert.deepEqual([...new Set(chosen.files.map(({ layer }) => layer))], layers);
    assert.equal(chosen.again, again);
  }
  for (const args of ["--retry", "market", "--rotation 5", "--jobs 0", "--file no_such"]) {
    assert.throws(() => parse(args), /CommanderError|RangeError/, args);
  }
});

const LANES: readonly Lane[] = ["alone", "timed", "components", "node", "beside"];
const FILES: readonly SuiteFile[] = LANES.flatMap((lane) =>
  [1, 2, 3, 4, 5].map((index) =>
    ({ name: `${lane}_${index}`, layer: "core", lane, seconds: index }) as const
  )
);

/** The files that ran at the same time, at each start; `installed` while the components are. */
async function play(jobs: number): Promise<readonly (readonly string[])[]> {
  const running = new Set<string>();
  const starts: string[][] = [];
  await runSuite(FILES, {
    jobs,
    signal: new AbortController().signal,
    async runFile({ name, seconds }) {
      running.add(name);
      starts.push([...running]);
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
  return starts;
}

Deno.test("runSuite() runs each file once and keeps lanes apart", async () => {
  for (const jobs of [1, 2, 4]) {
    const starts = await play(jobs);
    const started = starts.map((names) => names.at(-1)).toSorted();
    assert.deepEqual(started, FILES.map(({ name }) => name).toSorted());
    for (const names of starts) {
      const of = (lane: string): number => names.filter((name) => name.startsWith(lane)).length;
      const isInstalled = names.includes("installed");
      const running = names.length - (isInstalled ? 1 : 0);
      assert.ok(running <= jobs, names.join());
      assert.ok(of("node") <= 1, names.join());
      assert.equal(of("components") + of("timed") > 0, isInstalled, names.join());
      if (of("components") > 0) assert.equal(of("components"), running, names.join());
      if (of("timed") + of("alone") > 0) assert.equal(running, 1, names.join());
    }
    assert.equal(Math.max(...starts.map(({ length }) => length)), jobs + 1);
  }
});

Deno.test("SUITE_TABLE names each test file once", () => {
  const files = [...Deno.readDirSync(new URL("../", import.meta.url))].map(({ name }) => name)
    .filter((name) => name.endsWith("_test.ts")).toSorted();
  assert.deepEqual(SUITE_TABLE.map(({ name }) => `${name}_test.ts`).toSorted(), files);
});

const OUTPUT = "running 1 test\nok | 12 passed (3 steps) | 0 failed | 1 ignored (2s)\n\n";
const FAILURES = "FAILED | 2 passed | 3 failed (4 steps) (2s)\nerror: Test failed\n";

Deno.test("sumsOf() reads Deno's summary line, and counts a process that fails without it as one failure", () => {
  assert.deepEqual(sumsOf(OUTPUT, 0), { passed: 12, failed: 0, ignored: 1 });
  assert.deepEqual(sumsOf(FAILURES, 1), { passed: 2, failed: 3, ignored: 0 });
  assert.deepEqual(sumsOf(OUTPUT, 1), { passed: 12, failed: 1, ignored: 1 });
  for (const code of [0, 1]) assert.deepEqual(sumsOf("", code), { ...NO_TESTS, failed: 1 });
  // The checks read one line at the left, that of all files.
  assert.doesNotMatch(indented(OUTPUT), /^(ok|FAILED) \| [0-9]+ passed/m);
  const sums = addSums(sumsOf(OUTPUT, 0), sumsOf(FAILURES, 1));
  assert.equal(summaryLine(sums, 61_400), "FAILED | 14 passed | 3 failed | 1 ignored (1m1s)");
});
