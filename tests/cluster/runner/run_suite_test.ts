import assert from "node:assert/strict";
import { runSuite } from "./run_suite.ts";
import type { Lane, SuiteFile } from "./suite_table.ts";

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
