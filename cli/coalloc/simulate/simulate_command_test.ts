import assert from "node:assert/strict";
import { type CoallocScene, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { AS_IT_IS } from "../../../lab/arena/outcome.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { algorithmLabel } from "./replay.ts";

/** A minute of 40 to 80 requests per second; at 8 ms each about half a core. */
const RPS = Array.from({ length: 60 }, (_, second) => 40 + 40 * (Math.floor(second / 10) % 2))
  .join("\n");

function traceTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  sceneTest(name, (scene) => {
    scene.files.set("rps.txt", RPS);
    return fn(scene);
  });
}

traceTest(
  "simulateCommand() shows every algorithm and the verdict, without a cluster",
  async (scene) => {
    const world = {
      ...scene.world,
      connect: () => Promise.reject(new Error("not asked for")),
    };
    const args = "simulate --trace rps.txt --request 200m --limit 800m --seeds 2".split(" ");
    assert.equal(await runCoalloc(args, { ...world, clock: passing(0) }), 0);
    const [head = "", service = "", gap, columns = "", ...rows] = scene.out.split("\n");
    assert.match(
      head,
      /^rps\.txt \(rps, .* 1 s\): 1 minute; demand 0\.480 cores .*, P95 0\.640\.$/,
    );
    assert.match(service, /200m.*800m;.* 2 seeds\. SLO: P99/);
    assert.equal(gap, "");
    assert.match(
      columns,
      /^ALGORITHM +SLO +CORES +P50 MS +P99 MS +P99\.9 MS +THROTTLED MS\/S +CHANGES\/MIN/,
    );
    const algorithms = rows.slice(0, 11).map((row) => row.split(/ {2,}/)[0]);
    const statics = ["request x 1", "request x 2", "request x 4", "P90 x 1.15"];
    assert.deepEqual(algorithms.slice(0, 7), [
      ...["ours", "ours, tight", algorithmLabel(AS_IT_IS)],
      ...statics.map((setting) => algorithmLabel({ algorithm: "static", setting })),
    ]);
    assert(algorithms.slice(7).every((one) => one?.startsWith("vpa: ")), algorithms.join());
    assert.match(rows[2] ?? "", /^static: as.* (held|missed) +0\.800 /);
    assert.match(scene.out, /^CoAllocator .*cores/m);
    assert.match(scene.out, /\nInside .* 1 s .*\n$/);
    assert.match(scene.err, /^Trace "rps\.txt" .* rps; .*\n$/);
  },
);

traceTest("simulateCommand() prints one object in the arena's shape", async (scene) => {
  const args = ["simulate", "--trace", "rps.txt", "--seeds", "1", "--slo-ms", "200", "--json"];
  assert.equal(await scene.run(...args), 0);
  const { algorithms, ...rest } = JSON.parse(scene.out);
  assert.deepEqual(rest, {
    trace: "rps.txt",
    format: "rps",
    minutes: 1,
    seeds: 1,
    sloMs: 200,
    yardsticks: [],
  });
  assert.equal(algorithms.length, 11);
  const [ours] = algorithms;
  assert.deepEqual([ours.algorithm, ours.sloHeld], ["ours", true]);
  const figures = "cores p50Ms p99Ms p999Ms throttledMsPerS changesPerPodMinute slack jain " +
    "overCapacityS";
  for (const name of figures.split(" ")) assert.equal(typeof ours[name], "number", name);
  assert("reactionMsMedian" in ours && "reactionMsP95" in ours);
  scene.out = "";
  assert.equal(await scene.run(...args.slice(0, -1), "-o", "yaml"), 0);
  assert.match(scene.out, /^trace: rps\.txt\nformat: rps\n/);
});

traceTest("simulateCommand() reads standard input, and plays arrivals and usage", async (scene) => {
  const arrivals = Array.from({ length: 1200 }, (_, index) => `${1e9 + index / 20}`).join("\n");
  scene.files.set("-", arrivals);
  assert.equal(
    await scene.run("simulate", "--trace", "-", "--format", "arrivals", "--seeds", "1"),
    0,
  );
  assert.match(scene.out, /^standard input \(arrivals/);
  assert.match(scene.out, / 320m \(assumed: .*--request .*--limit\)/);
  assert.match(scene.out, /\nRequests .* recorded; /);
  scene.out = "";
  const cores = Array.from({ length: 4 }, (_, index) => `${30 * index},0.48`).join("\n");
  scene.files.set("cpu.csv", cores);
  assert.equal(
    await scene.run("simulate", "--trace", "cpu.csv", "--limit", "500m", "--minutes", "1"),
    0,
  );
  assert.match(scene.out, /the busiest 1 of its 2 minutes/);
  assert.match(scene.out, /\nThe usage .* limit: /);
});

traceTest(
  "simulateCommand() writes the page to standard output, the table beside it",
  async (scene) => {
    const args = "simulate --trace rps.txt --format rps --seeds 1 --html".split(" ");
    const world = { ...scene.world, clock: passing(0) };
    assert.equal(await runCoalloc(args, { ...world, outIsTerminal: true }), 2);
    assert.match(scene.err, /^Cannot show .*--html > page\.html;/);
    scene.err = "";
    assert.equal(await runCoalloc(args, world), 0);
    assert.match(scene.out, /^<!doctype html>/);
    assert.match(scene.out, /<title>.*: rps\.txt<\/title>/);
    assert.match(scene.out, /<h2>Limit against demand<\/h2>/);
    assert.match(scene.out, /inside a sample .* modelled/);
    assert.match(scene.out, /<b>rps\.txt<\/b>: your own file/);
    assert.match(
      scene.out,
      /kubectl coalloc simulate --trace rps\.txt --format rps --cost-ms 8 --seeds 1 /,
    );
    assert.match(scene.err, /^rps\.txt \(rps/);
  },
);

traceTest(
  "simulateCommand() reports progress after a second, and ends when interrupted",
  async (scene) => {
    const args = "simulate --trace rps.txt --format rps --seeds 1".split(" ");
    const world = { ...scene.world, clock: passing(400) };
    assert.equal(await runCoalloc(args, world), 0);
    const tenths = scene.err.trimEnd().split("\n");
    assert.match(tenths[0] ?? "", /^\d+ % · 0:0\d gone · about \d:\d\d left$/);
    assert.match(tenths.at(-1) ?? "", /^100 % · \d+:\d\d gone$/);
    scene.err = scene.out = "";
    assert.equal(await runCoalloc(args, { ...world, errIsTerminal: true }), 0);
    assert.match(scene.err, /^\r.*100 % · \d+:\d\d gone\n$/s);
    scene.err = scene.out = "";
    const ending = new AbortController();
    const unheard = <T>(job: () => T): T => {
      ending.abort();
      return job();
    };
    assert.equal(await runCoalloc(args, { ...world, unheard, signal: ending.signal }), 130);
    assert.equal(scene.out, "");
  },
);

/** A clock that advances by so many ms with each reading. */
function passing(ms: number): CoallocScene["clock"] {
  let now = 0;
  const look = (): number => now += ms;
  return {
    wall: look,
    monotonic: look,
    sleep: () => Promise.resolve(),
  } as unknown as CoallocScene["clock"];
}
