import { DOMParser } from "linkedom";
import assert from "node:assert/strict";
import { outcome, stageResult } from "../../tests/fixtures/lab/arena_outcomes.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { readRequestLog } from "../simulation/oracle/play_log.ts";
import { allRivals } from "../simulation/rivals/all_rivals.ts";
import { quantile } from "../simulation/statistics.ts";
import type { Trace } from "../simulation/trace.ts";
import { ALGORITHM_NOTES, arenaPage, stageRecords } from "./arena_page.ts";
import { checkGoals } from "./goals.ts";
import { algorithmNames, ENTRIES } from "./outcome.ts";
import { SHARED_NODE_SCENES, shareRequests } from "./shared_node_scenes.ts";
import {
  mostMinutes,
  playableStage,
  shippedStages,
  type StageResult,
  traceStage,
} from "./stages.ts";
import { traceScene, type TraceSceneOptions } from "./trace_scene.ts";

Deno.test("shippedStages() plays the busiest two hours, scaled where the unit is not CPU", async () => {
  const stages = await shippedStages({});
  assert.equal(stages.length, 9);
  for (const { name, minutes, p95Cores, trace } of stages) {
    const isScaled = name.startsWith("crane") || name === "azure-code";
    assert.equal(p95Cores, isScaled ? 2 : undefined, name);
    assert.ok(minutes <= 120 && minutes >= 57, name);
    assert.equal(minutes, Math.floor(trace.values.length * trace.stepS / 60));
    assert.equal(name === "azure-code", trace.arrivalsMs !== undefined);
  }
});

pure("mostMinutes() is what was asked for, else two hours, if quick a quarter of one", () => {
  assert.equal(mostMinutes({}), 120);
  assert.equal(mostMinutes({ quick: true }), 15);
  assert.equal(mostMinutes({ quick: true, minutes: 40 }), 40);
});

/** Minutes of a load, one value a minute. */
function trace(...values: number[]): Trace {
  return { name: "own", unit: "cores", stepS: 60, values: Float64Array.from(values) };
}

pure("traceStage() cuts out the busiest stretch, of at least one sample", () => {
  const options = { name: "own", format: "cores" } as const;
  const { minutes, trace: played } = traceStage(trace(1, 2, 5, 4, 1), { ...options, minutes: 2 });
  assert.equal(minutes, 2);
  assert.deepEqual([...played.values], [5, 4]);
  const coarse = { ...trace(1, 3), stepS: 300 };
  assert.equal(traceStage(coarse, { ...options, minutes: 1 }).minutes, 5);
});

pure("playableStage() refuses a trace without load or with too much of it", () => {
  const options = { name: "own", format: "cores", minutes: 60 } as const;
  assert.equal(playableStage(trace(1, 2), options).minutes, 2);
  assert.throws(() => playableStage(trace(0, 0), options), /no load.* 0:/);
  assert.throws(() => playableStage(trace(100, 200), options), /150 CPUs.*--scale-p95/);
  assert.equal(playableStage(trace(100, 200), { ...options, p95Cores: 2 }).p95Cores, 2);
});

const TRACE: Trace = {
  name: "made up",
  unit: "cores",
  stepS: 1,
  values: Float64Array.from({ length: 120 }, (_, second) => second < 60 ? 0.5 : 1.5),
};

function service(options: Omit<TraceSceneOptions, "seed"> = {}) {
  const { cores, minutes, pods } = traceScene(TRACE, { seed: 1, ...options });
  const [pod] = pods;
  assert(pod !== undefined && pods.length === 1);
  return { cores, minutes, ...pod };
}

pure("traceScene() takes the original request and limit, each alone too", () => {
  const own = (options: Omit<TraceSceneOptions, "seed">) => {
    const { request, originalLimit } = service(options);
    return [request, originalLimit];
  };
  assert.deepEqual(own({ request: 125, originalLimit: 333 }), [125, 333]);
  assert.deepEqual(own({ request: 300 }), [300, 1200]);
  assert.deepEqual(own({ originalLimit: 3000 }), [500, 3000]);
  assert.deepEqual(own({ originalLimit: 200 }), [200, 200]);
});

pure("traceScene() has room for the demand where the original limit is far below it", () => {
  const values = TRACE.values.map((value) => value * 20);
  const { cores, pods } = traceScene({ ...TRACE, values }, { seed: 1, originalLimit: 100 });
  assert(cores * 0.75 >= quantile(values, 1), String(cores));
  assert((pods[0]?.threads ?? 0) >= quantile(values, 1), String(pods[0]?.threads));
});

pure("traceScene() refuses what can't be played, with its values", () => {
  assert.throws(() => service({ request: 500, originalLimit: 400 }), {
    name: "RangeError",
    message: / 500m .* 400m$/,
  });
  assert.throws(() => service({ request: 0 }), / 0m /);
  const short = { ...TRACE, values: TRACE.values.subarray(0, 59) };
  assert.throws(() => traceScene(short, { seed: 1 }), / 59 s /);
  const idle = { ...TRACE, values: new Float64Array(60) };
  assert.throws(() => traceScene(idle, { seed: 1 }), /no load.* 0:/);
});

const CAPACITY_CORES = 7.2;

pure("SHARED_NODE_SCENES are short where they say so, and within capacity at the start", () => {
  for (const [name, make] of Object.entries(SHARED_NODE_SCENES)) {
    const { pods, cores } = make({ seed: 2, minutes: 3 });
    assert.equal(cores, 8);
    assert.equal(new Set(pods.map(({ uid }) => uid)).size, pods.length);
    assert.equal(new Set(pods.map((pod) => pod.name)).size, pods.length);
    const sum = (of: (pod: (typeof pods)[number]) => number) =>
      pods.reduce((total, pod) => total + of(pod), 0);
    assert.ok(sum(({ request }) => request) <= CAPACITY_CORES * 1000, name);
    // At the start of `noisy-neighbour` there is no burst.
    const wanted = sum(({ workload }) => workload().coresAt(0));
    assert.ok(name === "noisy-neighbour" || wanted > CAPACITY_CORES, `${name}: ${wanted}`);
  }
  const short = SHARED_NODE_SCENES["short-node"]({ seed: 5, minutes: 3 });
  const wanted = short.pods.reduce((total, { workload }) => total + workload().coresAt(0), 0);
  assert.ok(Math.abs(wanted - 1.3 * CAPACITY_CORES) < 1e-9);
});

pure("shareRequests() replays the same requests, and leaves endless work alone", () => {
  const scene = SHARED_NODE_SCENES.batch({ seed: 1, minutes: 1 });
  const shared = shareRequests(scene);
  scene.pods.forEach((pod, index) => {
    const again = shared.pods[index];
    assert(again !== undefined);
    assert.equal(again.workload().coresAt(30_000), pod.workload().coresAt(30_000));
    if (pod.trace === "endless") {
      assert.equal(again, pod);
      return;
    }
    const log = readRequestLog(pod.workload(), 60_000);
    assert.ok(log.atMs.length > 100);
    assert.deepEqual(readRequestLog(again.workload(), 60_000), log);
    assert.deepEqual(readRequestLog(again.workload(), 60_000), log);
  });
});

/** Members of a parsed page's nodes that the tests use. */
interface Node {
  readonly textContent: string;
  readonly outerHTML: string;
  getAttribute(name: string): string | null;
  querySelectorAll(selector: string): Iterable<Node>;
}

function parsed(markup: string): Node {
  return new DOMParser().parseFromString(markup, "text/html") as unknown as Node;
}

/** Every rival with every setting, CoAllocator, the oracle and yardsticks; figures are made up. */
function fullStage(some: Partial<StageResult> = {}): StageResult {
  const rivals = allRivals().map(({ algorithm, setting }, index) =>
    outcome({
      algorithm,
      setting,
      cores: 1 + index / 5,
      p99Ms: 4e3 / (1 + index),
      sloHeld: index > 20,
    })
  );
  const [base] = syntheticRuns({ pods: 1, minutes: some.minutes ?? 10 });
  assert(base !== undefined);
  const best = rivals[21];
  assert(best !== undefined);
  return stageResult([
    ...rivals,
    outcome({ ...ENTRIES.coallocator, cores: 1.5 }),
    outcome({ ...ENTRIES.equalCores, cores: 1.5 }),
    outcome({ ...ENTRIES.oracle, cores: 1.4 }),
    outcome({ ...ENTRIES.unlimited, cores: 64 }),
  ], {
    minutes: 10,
    records: [ENTRIES.coallocator, best, ENTRIES.oracle].map(({ algorithm, setting }) => ({
      ...base,
      algorithm,
      description: setting,
    })),
    ...some,
  });
}

function made(results: readonly StageResult[]): string {
  return arenaPage(results, checkGoals(results));
}

pure("arenaPage() says which goals are met and which are missed, and by how much", () => {
  const results = [fullStage()];
  const goals = checkGoals(results);
  const page = parsed(arenaPage(results, goals));
  const rows = [...page.querySelectorAll(".goals tbody tr")].map((row) => row.textContent);
  assert.equal(rows.length, goals.length);
  goals.forEach(({ met }, index) => assert.match(rows[index] ?? "", met ? /✓ met/ : /✗ missed/));
  const [title] = page.querySelectorAll("h1");
  const met = goals.filter((goal) => goal.met).length;
  assert.match(title?.textContent ?? "", new RegExp(`${met} (?:of \\d+ )?goals|all ${met}`));
});

pure("arenaPage() has every setting of every algorithm in a table", () => {
  const stage = fullStage();
  const page = parsed(made([stage]));
  const rows = [...page.querySelectorAll("details tbody tr")].map((row) => row.textContent);
  assert.equal(rows.length, stage.outcomes.length);
  stage.outcomes.forEach(({ algorithm, setting }, index) =>
    assert.ok(rows[index]?.startsWith(`${algorithm}${setting}`), rows[index])
  );
});

pure("arenaPage() has plots without a coordinate that is not a number, each with a label", () => {
  const kinds: Partial<StageResult>[] = [
    {},
    { kind: "bursts", name: "bursts-1" },
    { kind: "steps", name: "steps" },
    { kind: "shared node", name: "eight-equal" },
  ];
  const stages = kinds.map(fullStage);
  const plots = [...parsed(made(stages)).querySelectorAll("svg.plot")];
  // In two widths.
  assert.equal(plots.length, 4 * 2);
  for (const plot of plots) {
    assert.ok((plot.getAttribute("aria-label") ?? "").length > 20);
    assert(!/NaN|Infinity|undefined/.test(plot.outerHTML), plot.getAttribute("aria-label") ?? "");
  }
});

pure("arenaPage() draws what there is, and says where figures, series or goals lack", () => {
  const odd = outcome({ ...ENTRIES.coallocator, p50Ms: 0, p99Ms: Infinity, p999Ms: NaN, cores: 0 });
  const markup = arenaPage([stageResult([odd]), stageResult([], { sloMs: 0 })], []);
  assert.match(markup, />No series /);
  assert(!/NaN|undefined/.test(markup));
  assert.match(arenaPage([], []), /<h1>Control algorithms compared/);
});

pure("arenaPage() says how traces were scaled", () => {
  const crane = fullStage({ name: "crane0", format: "cores", p95Cores: 2 });
  const text = made([crane]).replaceAll(/<[^>]*>/g, "").replaceAll(/\s+/g, " ");
  assert.match(text, /crane0: only .* 2\.00 CPUs/);
  assert.match(text, /Licence: Apache-2\.0/);
});

pure("arenaPage() escapes names, loads nothing, and is the same for the same findings", () => {
  const evil = `<img src=x onerror=alert(1)>"'</svg></script>`;
  const stage = fullStage({ name: evil });
  const strange = outcome({ algorithm: evil, setting: evil, p99Ms: 70 });
  const markup = made([{ ...stage, outcomes: [...stage.outcomes, strange] }]);
  assert(!/<img|<script/.test(markup));
  assert.equal([...parsed(markup).querySelectorAll("img, script, [onerror]")].length, 0);
  assert(!markup.includes("@import") && !/(?:src|href)="https?:/.test(markup));
  assert.equal(made([fullStage()]), made([fullStage()]));
});

pure("arenaPage() stays below 3 MB for as many stages as the arena has", () => {
  const trace: Partial<StageResult> = { name: "crane0", minutes: 120 };
  const kinds = [...Array(3).fill("bursts"), "steps", ...Array(5).fill("shared node")];
  const stages = [...Array(9).fill(trace), ...kinds.map((kind) => ({ kind, name: kind }))];
  const { length } = made(stages.map(fullStage));
  assert.ok(length < 3e6, `${length} characters`);
});

pure("ALGORITHM_NOTES has a note for each algorithm", () => {
  const algorithms = algorithmNames();
  assert.deepEqual(
    algorithms.filter((algorithm) => ALGORITHM_NOTES.get(algorithm) === undefined),
    [],
  );
});

pure(
  "stageRecords() takes CoAllocator, the best rival and the oracle, whatever their order",
  () => {
    const [run] = syntheticRuns({ pods: 1, minutes: 1 });
    assert(run !== undefined);
    const best = outcome({ algorithm: "captain", setting: "target 0.1", cores: 1 });
    const other = outcome({ algorithm: "hpa", setting: "target 0.5", cores: 3 });
    const outcomes = [ENTRIES.oracle, ENTRIES.tight, ENTRIES.coallocator].map((entry) =>
      outcome(entry)
    );
    const records = [other, ...outcomes, best].map(({ algorithm, setting }) => ({
      ...run,
      algorithm,
      description: setting,
    }));
    const result = stageResult([other, best, ...outcomes], { records });
    assert.deepEqual(stageRecords(result).map(({ algorithm }) => algorithm), [
      ...["coallocator", "coallocator-tight", "captain, target 0.1", "oracle"],
    ]);
    assert.deepEqual(stageRecords({ ...result, records: [] }), []);
  },
);
