import assert from "node:assert/strict";
import { taskInMemory, withFile } from "../tests/fixtures/cli/task_world.ts";
import { arena } from "./arena.ts";

/** Exit code, output, errors and page of an arena of one seed over a trace, played in this thread. */
async function played(path: string, ...args: string[]) {
  const world = { ...taskInMemory(), workers: 0 };
  const few = ["--seeds", "1", "--algorithms", "mbcas,ours,oracle"];
  const code = await arena(["--trace", path, ...few, ...args], world);
  return { code, ...world.written };
}

const MINUTE = Array.from({ length: 60 }, (_, second) => 40 + second).join("\n");

Deno.test("arena() shows a table and the goals, and writes the page", () =>
  withFile(MINUTE, async (path) => {
    const { code, out, err, page } = await played(path);
    assert.equal(code, 0);
    assert.match(err, /^100 % /m);
    for (const name of ["mbcas", "ours", "oracle", "static-equal", "best rival"]) {
      assert.ok(out.includes(name), `"${name}" is missing`);
    }
    assert.match(out, /Report: arena\.html\n$/);
    assert.match(page, /^<!doctype html>.*mbcas/is);
  }));

Deno.test("arena() prints one JSON object with an entry per setting, the same each time", () =>
  withFile(MINUTE, async (path) => {
    const { code, out, page } = await played(path, "--json");
    assert.deepEqual([code, page], [0, ""]);
    const { trace, format, seeds, sloMs, algorithms, yardsticks } = JSON.parse(out);
    assert.deepEqual([trace, format, seeds], [path, "rps", 1]);
    assert.ok(sloMs > 100);
    const names = (of: Record<string, unknown>[]) => of.map((one) => one["algorithm"]);
    assert.deepEqual(names(algorithms), ["mbcas", "ours", "ours-tight", "oracle"]);
    assert.deepEqual(names(yardsticks), ["static-equal", "unlimited"]);
    for (const { algorithm, setting } of [...algorithms, ...yardsticks]) {
      assert.notEqual(setting, "", algorithm);
    }
    const [, ours] = algorithms;
    assert.deepEqual([ours.setting, typeof ours.sloHeld], ["default", "boolean"]);
    const figures = ["cores", "p50Ms", "p99Ms", "throttledMsPerS", "changesPerPodMinute", "slack"];
    for (const name of [...figures, "jain", "overCapacityS"]) {
      assert.equal(typeof ours[name], "number", name);
    }
    for (const name of ["reactionMsMedian", "reactionMsP95"]) assert.ok(name in ours, name);
    assert.equal((await played(path, "--json", "--no-report")).out, out);
  }));

Deno.test("arena() says what is wrong with a trace, and exits with 1", async () => {
  for (
    const [text, problem] of [
      ["12\ntwelve\n", /line 2.*twelve/],
      ["1\n2\n3\n", / 3 s long, .*minute: export/],
      ["0\n".repeat(60), / load .* 0: export/],
      ["90000000\n".repeat(60), /scale-p95/],
    ] as const
  ) {
    await withFile(text, async (path) => {
      const { code, out, err } = await played(path);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, problem);
    });
  }
  const { code, err } = await played("/tmp/gone");
  assert.equal(code, 1);
  assert.match(err, /Cannot read trace "\/tmp\/gone"/);
});

Deno.test("arena() plays a quarter of an hour of a longer trace when it is to be quick", () =>
  withFile("1\n".repeat(16 * 60), async (path) => {
    const { out, err, page } = await played(path, "--algorithms", "mbcas", "--quick", "--json");
    assert.equal(JSON.parse(out).minutes, 15);
    assert.match(err, /^Trace ".*" .* rps; .*--format/);
    assert.equal(page, "");
  }));
