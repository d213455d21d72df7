import assert from "node:assert/strict";
import { type CoallocScene, sceneTest } from "../../../tests/fixtures/cli/coalloc_scene.ts";
import { type AlgorithmOutcome, ENTRIES } from "../../../lab/arena/outcome.ts";
import { runCoalloc } from "../run_coalloc.ts";
import { algorithmLabel } from "./replay.ts";
import { pure } from "../../../tests/fixtures/pure.ts";
import { readCommandLine } from "../coalloc_command.ts";
import { traceScene } from "../../../lab/arena/trace_scene.ts";
import { simulateText, type Story } from "./simulate_text.ts";
import { type SimulateRequest, simulateRequest } from "./simulate_arguments.ts";

/** A minute of 40 to 80 requests per second; at 8 ms each about half a core. */
const RPS = Array.from({ length: 60 }, (_, second) => 40 + 40 * (Math.floor(second / 10) % 2))
  .join("\n");

function traceTest(name: string, fn: (scene: CoallocScene) => Promise<void>): void {
  sceneTest(name, (scene) => {
    scene.files.set("rps.txt", RPS);
    return fn(scene);
  });
}

traceTest("simulateCommand() shows every algorithm and the verdict", async (scene) => {
  const world = { ...scene.world, connect: () => Promise.reject(new Error("not asked for")) };
  const args = "simulate --trace rps.txt --request 200m --limit 800m --seeds 2".split(" ");
  assert.equal(await runCoalloc(args, { ...world, clock: passing(0) }), 0);
  const [head = "", service = "", gap, columns = "", ...rows] = scene.out.split("\n");
  assert.match(head, /^rps\.txt \(rps, .* 1 s\): 1 minute; .* 0\.480 .* 0\.640\.$/);
  assert.match(service, /200m.*800m;.* 2 seeds\. .*SLO: P99/);
  assert.equal(gap, "");
  assert.match(
    columns,
    /^ALGORITHM +SLO +CORES +P50 MS +P99 MS +LATE % +THROTTLED MS\/S +CHANGES\/MIN/,
  );
  const algorithms = rows.slice(0, 11).map((row) => row.split(/ {2,}/)[0]);
  const statics = ["request x 1", "request x 2", "request x 4", "P90 x 1.15"];
  assert.deepEqual(algorithms.slice(0, 7), [
    ...["coallocator", "coallocator, tight", algorithmLabel(ENTRIES.asItIs)],
    ...statics.map((setting) => algorithmLabel({ algorithm: "static", setting })),
  ]);
  assert(algorithms.slice(7).every((one) => one?.startsWith("vpa: ")), algorithms.join());
  assert.match(rows[2] ?? "", /^static: as.* (held|missed) +0\.800 /);
  assert.match(scene.out, /^CoAllocator .*cores/m);
  assert.match(scene.out, /\nInside .* 1 s .*\n$/);
  assert.match(scene.err, /^Trace "rps\.txt" .* rps; .*\n$/);
});

traceTest("simulateCommand() warns of a history of many cores, unless scaled", async (scene) => {
  scene.files.set("many.csv", Array.from({ length: 60 }, (_, s) => `${s},40`).join("\n"));
  const args = "simulate --trace many.csv --format cores --seeds 1 --minutes 1".split(" ");
  const world = { ...scene.world, clock: passing(400) };
  assert.equal(await runCoalloc(args, world), 0);
  assert.match(scene.err, / 40 cores .*--scale-p95 2/);
  scene.err = "";
  assert.equal(await runCoalloc([...args, "--scale-p95", "2"], world), 0);
  assert.doesNotMatch(scene.err, /scale-p95/);
});

traceTest("simulateCommand() prints one object in the arena's shape", async (scene) => {
  const args = ["simulate", "--trace", "rps.txt", "--seeds", "1", "--slo-ms", "200", "--json"];
  assert.equal(await scene.run(...args), 0);
  const { algorithms, ...rest } = JSON.parse(scene.out);
  assert.deepEqual(rest, {
    trace: "rps.txt",
    format: "rps",
    minutes: 1,
    seeds: 1,
    giveUp: 10,
    sloMs: 200,
    yardsticks: [],
  });
  assert.equal(algorithms.length, 11);
  const [ours] = algorithms;
  assert.deepEqual([ours.algorithm, ours.sloHeld], ["coallocator", true]);
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
  assert.match(scene.out, / 1 of its 2 minutes;/);
  assert.match(scene.out, /\nThe usage .* limit: /);
});

traceTest("simulateCommand() writes the page to standard output", async (scene) => {
  const args = "simulate --trace rps.txt --format rps --seeds 1 --html".split(" ");
  const world = { ...scene.world, clock: passing(0) };
  assert.equal(await runCoalloc(args, { ...world, outIsTerminal: true }), 2);
  assert.match(scene.err, /--html > page\.html;/);
  scene.err = "";
  assert.equal(await runCoalloc(args, world), 0);
  assert.match(scene.out, /^<!doctype html>/);
  assert.match(scene.out, /<title>.*: rps\.txt<\/title>/);
  assert.match(scene.out, /<h2>Limit against demand<\/h2>/);
  assert.match(scene.out, /inside a sample /);
  assert.match(scene.out, /<b>rps\.txt<\/b>: /);
  assert.match(scene.err, /^rps\.txt \(rps/);
});

traceTest("simulateCommand() reports progress, and ends when interrupted", async (scene) => {
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
  const runBlocking = <T>(job: () => T): T => {
    ending.abort();
    return job();
  };
  assert.equal(await runCoalloc(args, { ...world, runBlocking, signal: ending.signal }), 130);
  assert.equal(scene.out, "");
});

/** A clock that advances by so many ms with each reading. */
function passing(ms: number): CoallocScene["clock"] {
  let now = 0;
  const read = (): number => now += ms;
  return {
    wall: read,
    monotonic: read,
    sleep: () => Promise.resolve(),
  } as unknown as CoallocScene["clock"];
}

/** The request of a command line, or what is said about it. */
function asked(...args: readonly string[]): SimulateRequest | string {
  const line = readCommandLine(["simulate", ...args]);
  return "text" in line ? line.text : simulateRequest(line.flags);
}

function request(...args: readonly string[]): SimulateRequest {
  const found = asked(...args);
  assert(typeof found !== "string", String(found));
  return found;
}

pure("simulateRequest() reads every flag", () => {
  const line = "--trace cpu.json --format prometheus --series namespace=shop,pod=web-0 " +
    "--scale-p95 2.5 --request 500m --limit 2 --cost-ms 20 --slo-ms 250 --give-up 2.5 --seeds 3 --minutes 30";
  const read = request(...line.split(" "), "-o", "yaml");
  assert.deepEqual(read, {
    source: {
      path: "cpu.json",
      format: "prometheus",
      series: new Map([["namespace", "shop"], ["pod", "web-0"]]),
    },
    p95Cores: 2.5,
    request: 500,
    originalLimit: 2000,
    costMs: 20,
    giveUp: 2.5,
    sloMs: 250,
    seeds: 3,
    minutes: 30,
    output: "yaml",
  });
  assert.equal(request("--trace", "-").source.path, "-");
  assert.equal(request("--trace", "f", "--json").output, "json");
  assert.equal(request("--trace", "f", "--json", "-o", "json").output, "json");
  assert.deepEqual(
    request("--trace", "f", "--series", 'pod="a=b"').source.series,
    new Map([["pod", "a=b"]]),
  );
});

pure("simulateRequest() names flag, value and remedy of a mistake", () => {
  for (
    const [line, message] of [
      ["--seeds 0", /--seeds <count>.*'0'.* 1 to 100/],
      ["--minutes 1.5", /--minutes <count>.*'1\.5'.*whole.* 1 to 1440/],
      ["--cost-ms -8", /--cost-ms <ms>.*'-8'.* 0\.1 to 60000/],
      ["--slo-ms soon", /--slo-ms <ms>.*'soon'.* from 1\b/],
      ["--scale-p95 NaN", /--scale-p95 <cores>.*'NaN'.*from 0\.01 to 512/],
      ...["0", "-1", "600"].map((wrong) => [`--limit ${wrong}`, /--limit <cpu>/] as const),
      ["--trace --json", /'--json'.*\.\/--json/],
    ] as const
  ) assert.match(String(asked("--trace", "f", ...line.split(" "))), message, line);
});

const FIGURES = {
  coresAllocated: 1.2,
  p50Ms: 6,
  p99Ms: 57,
  p999Ms: 130,
  throttledMsPerS: 150,
  changesPerPodMinute: 0.4,
  reactionMsMedian: 450,
  reactionMsP95: 700,
  slack: 0.25,
  overCapacityS: 0,
};

const OUTCOME: AlgorithmOutcome = {
  ...ENTRIES.coallocator,
  sloHeld: true,
  sloHeldShare: 1,
  median: FIGURES,
  least: FIGURES,
  most: FIGURES,
};

function story(): Story {
  const trace = {
    name: "made up",
    unit: "cores" as const,
    stepS: 60,
    values: Float64Array.of(1, 1),
  };
  const { reactionMsMedian: _none, ...without } = FIGURES;
  const median = { ...without, p99Ms: 900 };
  return {
    history: { path: "cpu.csv", format: "cores", minutes: 2, trace },
    request: {
      source: { path: "cpu.csv" },
      costMs: 8,
      giveUp: 10,
      seeds: 1,
      minutes: 60,
      output: "table",
    },
    replay: {
      scene: traceScene(trace, { seed: 1 }),
      sloMs: 139,
      freeP99Ms: 39,
      outcomes: [
        OUTCOME,
        { ...OUTCOME, ...ENTRIES.tight },
        { ...OUTCOME, ...ENTRIES.asItIs, sloHeld: false, median },
      ],
      runs: [],
    },
  };
}

const rowOf = (text: string, algorithm: string): string | undefined =>
  text.split("\n").find((line) => line.startsWith(algorithm));

pure("simulateText() has a line per algorithm, and leaves out columns for narrow terminals", () => {
  const text = simulateText(story());
  assert.match(
    rowOf(text, "coallocator") ?? "",
    /^coallocator +held +1\.20 +6\.00 +57\.0 +0 +150 +0\.400 +450\/700$/,
  );
  assert.match(rowOf(text, algorithmLabel(ENTRIES.asItIs)) ?? "", / missed .* -$/);
  const wide = simulateText(story(), { wide: true });
  assert.match(rowOf(wide, "ALGORITHM") ?? "", /SLACK %$/);
  assert.match(rowOf(wide, "coallocator") ?? "", /25\.0$/);
  const narrow = rowOf(simulateText(story(), { columns: 80 }), "ALGORITHM") ?? "";
  assert(narrow.length <= 80 && !narrow.includes("P50") && narrow.includes("P99"), narrow);
  assert.match(rowOf(simulateText(story(), { columns: 20 }), "ALGORITHM") ?? "", /CORES/);
});
