import { Command, InvalidArgumentError } from "commander";
import assert from "node:assert/strict";
import { usageQueries } from "../../controller/rightsizing/sources/prometheus_usage.ts";
import { seededRandom, standardNormal } from "../../shared/random.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { PROGRAM_ENVIRONMENT, V8_FLAGS } from "../../tools/build/programs.ts";
import { benchFlags, goal, wholeNumber, wholeNumberFrom } from "./bench.ts";
import {
  containerName,
  namespaceOf,
  podName,
  type RangeAnswer,
  rangeAnswer,
  valueAt,
  workloadName,
} from "./rightsizing/usage_server.ts";
import { blockMeans, quantile, slopeOf } from "../simulation/statistics.ts";
import { ownScenes, playOptions, shippedScenes } from "./backtest/scenes.ts";
import { neighbourFigures, type NeighbourLook } from "./neighbour/report.ts";
import { reactionGoals, reactionOf } from "./reaction/report.ts";
import {
  type AppAlgorithm,
  type AppResult,
  APPS,
  BURST_S,
  burstTurns,
  mediansOf,
  TURN_S,
} from "./real_apps/app_result.ts";
import { parseAttack, requestFigures } from "./real_apps/load.ts";

pure("benchFlags() reads flags, also after a lone --, and has --json", () => {
  const read = (...args: string[]): object => benchFlags(new Command().option("--n <n>"), args);
  assert.deepEqual([read(), read("--", "--json", "--n", "2")], [
    { json: false },
    { json: true, n: "2" },
  ]);
});

pure("wholeNumber() refuses all but whole numbers from 1 on", () => {
  assert.equal(wholeNumber("12"), 12);
  for (const text of ["0", "-1", "1.5", "", "x", "1".repeat(20)]) {
    assert.throws(() => wholeNumber(text), InvalidArgumentError, text);
  }
  assert.equal(wholeNumberFrom(3)("3"), 3);
  assert.throws(() => wholeNumberFrom(3)("2"), /from 3/);
});

pure("goal() holds up to its bound, and says nothing where it does not count", () => {
  assert.deepEqual([1, 2, 3, NaN].map((value) => goal("", value, { most: 2 }).held), [
    ...[true, true, false, false],
  ]);
  assert.equal(goal("", 3, { most: 2, counts: false }).held, undefined);
});

pure("slopeOf() has slope and error of a textbook's example", () => {
  // x = 1..5, y = 2, 4, 5, 4, 5: b = 6 / 10, residuals' squares 2.4, error sqrt(2.4 / 3 / 10).
  const { perUnit, error } = slopeOf([[1, 2], [2, 4], [3, 5], [4, 4], [5, 5]]);
  assert.ok(Math.abs(perUnit - 0.6) < 1e-12, `${perUnit}`);
  assert.ok(Math.abs(error - Math.sqrt(0.08)) < 1e-12, `${error}`);
});

pure("slopeOf() holds the true slope within 2 errors in about 95 of 100 noisy series", () => {
  const random = seededRandom(1);
  let held = 0;
  for (let run = 0; run < 1000; run++) {
    const samples = Array.from(
      { length: 60 },
      (_, i) => [i, 100 + 0.5 * i + 5 * standardNormal(random)] as const,
    );
    const { perUnit, error } = slopeOf(samples);
    if (Math.abs(perUnit - 0.5) <= 2 * error) held++;
  }
  assert.ok(held > 930 && held < 970, `${held} of 1000`);
});

pure("slopeOf() refuses two samples, and a constant series has no slope and no error", () => {
  assert.throws(() => slopeOf([[0, 1], [1, 1]]), RangeError);
  assert.deepEqual(slopeOf([[0, 7], [1, 7], [2, 7]]), { perUnit: 0, error: 0 });
});

pure("blockMeans() keeps the slope's error true where neighbouring samples are alike", () => {
  assert.deepEqual(blockMeans([[0, 1], [1, 3], [2, 5], [3, 7]], 2), [[0.5, 2], [2.5, 6]]);
  assert.deepEqual(blockMeans([[0, 1], [1, 3]], 10), [[0, 1], [1, 3]]);
  const random = seededRandom(2);
  let [alone, inBlocks] = [0, 0];
  for (let run = 0; run < 400; run++) {
    let noise = 0;
    const samples = Array.from({ length: 240 }, (_, i) => {
      noise = 0.8 * noise + standardNormal(random);
      return [i, noise] as const;
    });
    const isHeld = ({ perUnit, error }: ReturnType<typeof slopeOf>): boolean =>
      Math.abs(perUnit) <= 2 * error;
    if (isHeld(slopeOf(samples))) alone++;
    if (isHeld(slopeOf(blockMeans(samples, 10)))) inBlocks++;
  }
  assert.ok(alone < 240 && inBlocks > 330, `${alone}, ${inBlocks} of 400`);
});

const NOON_MS = Date.UTC(2026, 0, 1, 12);
const place = { workload: 3, pod: 0, container: 1 };

pure("valueAt() changes with each scrape and no sooner, and from series to series", () => {
  for (const resource of ["cpu", "memory"] as const) {
    const at = (atMs: number, of = place): number => valueAt(of, { resource, atMs });
    assert.equal(at(NOON_MS), at(NOON_MS + 29_999));
    assert.notEqual(at(NOON_MS), at(NOON_MS + 30_000));
    for (const other of [{ workload: 4 }, { pod: 1 }, { container: 2 }]) {
      assert.notEqual(at(NOON_MS), at(NOON_MS, { ...place, ...other }));
    }
  }
});

pure("valueAt() stays in its range", () => {
  for (let scrape = 0; scrape < 2880; scrape++) {
    const atMs = NOON_MS + scrape * 30_000;
    const cores = valueAt(place, { resource: "cpu", atMs });
    assert.ok(cores >= 0.025 && cores <= 1.5, `${cores}`);
    const bytes = valueAt(place, { resource: "memory", atMs });
    assert.ok(Number.isInteger(bytes) && bytes >= 0.8 * 64 * 2 ** 20 && bytes <= 512 * 2 ** 20);
  }
});

const CLUSTER = { workloads: 60, pods: 2, containers: 3 };
const END_S = 1_767_225_600;

function ask(
  query: string,
  { start = END_S - 240, step = 120 }: { readonly start?: number; readonly step?: number } = {},
): RangeAnswer {
  const moments = { start: String(start), end: String(END_S), step: String(step) };
  return rangeAnswer(new URLSearchParams({ query, ...moments }), CLUSTER);
}

function queriesOf(workload: number): ReturnType<typeof usageQueries> {
  return usageQueries({
    namespace: namespaceOf(workload),
    workload: { kind: "Deployment", name: workloadName(workload), uid: "u" },
    pods: [],
    otherPods: [],
    containers: [containerName(0), containerName(2)],
    window: { fromMs: 0, toMs: 1 },
  }, []);
}

pure("rangeAnswer() finds the series of a workload's query, and no others", () => {
  for (const resource of ["cpu", "memory"] as const) {
    const { status, body } = ask(queriesOf(5)[resource]);
    assert.equal(status, 200);
    const { status: outcome, data: { resultType, result } } = JSON.parse(body);
    assert.deepEqual([outcome, resultType], ["success", "matrix"]);
    const series: readonly { metric: Record<string, string>; values: unknown }[] = result;
    assert.deepEqual(series.map(({ metric }) => metric), [
      { container: "part-0", pod: podName({ workload: 5, pod: 0 }) },
      { container: "part-2", pod: podName({ workload: 5, pod: 0 }) },
      { container: "part-0", pod: podName({ workload: 5, pod: 1 }) },
      { container: "part-2", pod: podName({ workload: 5, pod: 1 }) },
    ]);
    const place = { workload: 5, pod: 0, container: 0 };
    assert.deepEqual(
      series[0]?.values,
      [END_S - 240, END_S - 120, END_S].map((atS) => [
        atS,
        String(valueAt(place, { resource, atMs: 1000 * atS })),
      ]),
    );
  }
});

pure("rangeAnswer() refuses what Prometheus would, and queries that it does not know", () => {
  const { cpu } = queriesOf(5);
  for (
    const [answer, message] of [
      [ask("up"), /unknown query: up/],
      [ask(cpu, { step: 0 }), /no moments/],
      [ask(cpu, { start: END_S - 11_001, step: 1 }), /resolution of 11,000/],
    ] as const
  ) {
    assert.equal(answer.status, 400);
    const { status, errorType, error } = JSON.parse(answer.body);
    assert.deepEqual([status, errorType], ["error", "bad_data"]);
    assert.match(error, message);
  }
  assert.equal(ask(cpu, { start: END_S - 11_000, step: 1 }).status, 200);
});

const CONFIG = new URL("../../deno.json", import.meta.url);

Deno.test({
  name: "bench:rightsizing runs with the memory settings that the controller is shipped with",
  permissions: { read: [CONFIG] },
  async fn() {
    const { tasks } = JSON.parse(await Deno.readTextFile(CONFIG));
    const { command }: { readonly command: string } = tasks["bench:rightsizing"];
    assert.ok(command.includes(`${V8_FLAGS},--expose-gc `), command);
    const environment = Object.entries(PROGRAM_ENVIRONMENT).map(([name, value]) =>
      `${name}=${value}`
    );
    assert.ok(command.startsWith(`${environment.join(" ")} deno run `), command);
  },
});

const FIGURES = { requests: 200, failed: 1, late: 20, p50Ms: 2, p99Ms: 400, quietP99Ms: 10 };

function result(
  algorithm: AppAlgorithm,
  { seed, p99Ms }: { seed: number; p99Ms: number },
): AppResult {
  const phases = {
    alone: { ...FIGURES, p99Ms },
    neighbour: { ...FIGURES, p99Ms: 2 * p99Ms, quietP99Ms: 15 },
  };
  return {
    ...{ algorithm, seed, minutes: 3, kernel: "6.18" },
    versions: { nginx: "1.22.1" },
    neighbourUsed: 900,
    apps: APPS.map(({ name }) => ({ name, phases })),
  };
}

const RESULTS = [
  ...[100, 400, 200].map((p99Ms, run) => result("fixed", { seed: run + 1, p99Ms })),
  result("none", { seed: 1, p99Ms: 50 }),
];

Deno.test("mediansOf() takes them over an algorithm's runs", () => {
  const fixed = mediansOf(RESULTS).filter(({ algorithm, app }) =>
    algorithm === "fixed" && app === "redis"
  );
  assert.deepEqual(
    fixed.map(({ phase, runs, figures }) => [phase, runs, figures.p99Ms]),
    [["alone", 3, 200], ["neighbour", 3, 400]],
  );
});

Deno.test("requestFigures() counts a refused request as one that never got its answer", () => {
  const sent = Array.from({ length: 100 }, (_, atMs) => ({ atMs, latencyMs: 5, failed: false }));
  const figures = requestFigures([
    ...sent,
    { atMs: 100, latencyMs: 1500, failed: false },
    { atMs: 101, latencyMs: 0.1, failed: true },
  ], (atMs) => atMs >= 100);
  assert.deepEqual(
    [figures.requests, figures.failed, figures.late, figures.p50Ms, figures.quietP99Ms],
    [102, 1, 1, 5, 5],
  );
  assert.ok(figures.p99Ms > 1000);
});

Deno.test("burstTurns() gives each app its turn in each round of each half, the same for one seed", () => {
  const bursts = burstTurns({ seed: 7, minutes: 3 });
  assert.equal(bursts.length, 12);
  for (const first of [0, 3, 6, 9]) {
    const round = bursts.slice(first, first + 3).map(({ app }) => app);
    assert.deepEqual(round.sort(), ["deno", "nginx", "redis"]);
  }
  for (const [turn, { atS }] of bursts.entries()) {
    const inTurnS = atS - turn * TURN_S;
    assert.ok(inTurnS >= 0 && inTurnS + BURST_S < TURN_S, `${inTurnS} s`);
  }
  const [one, other] = [3, 4].map((seed) => burstTurns({ seed, minutes: 2 }));
  assert.deepEqual(burstTurns({ seed: 3, minutes: 2 }), one);
  assert.notDeepEqual(other, one);
  assert.deepEqual(one?.map(({ atS }) => atS >= 60), [false, false, false, true, true, true]);
});

/** As vegeta writes it: sent, code, latency, bytes out and in, error, body, attack, number, … */
function row(sentNs: number, { code = 200, latencyNs = 2e6, number = 0, error = "" }): string {
  return [sentNs, code, latencyNs, 0, 0, error, "", "", number, "GET", "http://h/", "aGVhZA=="]
    .join(",");
}

Deno.test("parseAttack() counts latency from when a request was to be sent", () => {
  const csv = [
    row(1_000_000_000, {}),
    // 10 ms a request: this one went out 25 ms late, and the last 5 ms.
    row(1_035_000_000, { number: 1 }),
    row(1_025_000_000, {
      number: 2,
      code: 0,
      latencyNs: 1e6,
      error: '"Get ""http://h/"": refused"',
    }),
  ].join("\n");
  assert.deepEqual(parseAttack(`${csv}\n`, { rate: 100 }), [
    { atMs: 1000, latencyMs: 2, failed: false },
    { atMs: 1010, latencyMs: 27, failed: false },
    { atMs: 1020, latencyMs: 6, failed: true },
  ]);
});

Deno.test("parseAttack() refuses a line without a request, and takes a first one that is late", () => {
  assert.throws(() => parseAttack("Requests [total]\n", { rate: 1 }), { name: "SyntaxError" });
  const csv = [row(1_030_000_000, {}), row(1_010_000_000, { number: 1 })].join("\n");
  const latencies = parseAttack(csv, { rate: 100 }).map(({ latencyMs }) => latencyMs);
  assert.deepEqual(latencies, [32, 2]);
});

const TIMES = { intervalMinutes: 60, warmUpHours: 24 };

Deno.test({
  name: "shippedScenes() plays production histories as CPU and as memory, scaled to one size",
  permissions: { read: [new URL("../simulation/traces/", import.meta.url)] },
  async fn() {
    const scenes = await shippedScenes();
    assert.deepEqual(
      scenes.map((scene) => [scene.resource, playOptions(scene, TIMES).limitFactor]),
      [["cpu", undefined], ["cpu", 1], ["memory", 1.1]],
    );
    for (const { histories, resource } of scenes) {
      assert.equal(histories.length, 6);
      for (const { values } of histories) {
        const p95 = quantile(values, 0.95) / (resource === "cpu" ? 1000 : 2 ** 30);
        assert.ok(Math.abs(p95 - 1) < 1e-9, `${p95}`);
      }
    }
  },
});

Deno.test({
  name: "ownScenes() plays a user's file as it is, as what it is said to be",
  async fn() {
    const path = await Deno.makeTempFile();
    try {
      await Deno.writeTextFile(path, "0,0.5\n60,0.25\n");
      const cpu = await ownScenes(path, "cpu");
      assert.deepEqual(cpu.map(({ limitFactor }) => limitFactor), [undefined, 1]);
      assert.deepEqual([...(cpu[0]?.histories[0]?.values ?? [])], [500, 250]);
      await Deno.writeTextFile(path, `0,${2 ** 31}\n60,${2 ** 32}\n`);
      const memory = await ownScenes(path, "memory");
      assert.deepEqual(memory.map(({ limitFactor }) => limitFactor), [1.1]);
      assert.deepEqual([...(memory[0]?.histories[0]?.values ?? [])], [2 ** 31, 2 ** 32]);
      await assert.rejects(
        ownScenes(path, "cpu"),
        /timestamp.*from 0 to 1e9/,
      );
    } finally {
      await Deno.remove(path);
    }
  },
});

Deno.test("reactionOf() has median and 95th percentile, with missed bursts as long as they lasted", () => {
  const whole = reactionOf([280, 300, 500], { missed: 0, timeoutMs: 10_000 });
  assert.deepEqual(whole, { medianMs: 300, p95Ms: 480 });
  assert.ok(reactionGoals({ ...whole, medianMs: 450 }, 0).every(({ held }) => held));
  const missed = reactionOf([280], { missed: 2, timeoutMs: 10_000 });
  assert.deepEqual(missed, { medianMs: 10_000, p95Ms: 10_000 });
});

Deno.test("reactionGoals() hold neither with a missed burst nor without any", () => {
  const held = (answeredMs: readonly number[], missed: number) =>
    reactionGoals(reactionOf(answeredMs, { missed, timeoutMs: 10_000 }), missed)
      .map((goal) => goal.held);
  assert.deepEqual(held([280, 300], 3), [false, false, false]);
  // However good the others are.
  assert.deepEqual(held(Array(49).fill(200), 1), [true, true, false]);
  assert.deepEqual(held([], 0), [false, false, true]);
});

/** A look each second from -10 s: three services, of which the first gets more until 7 s. */
function looksOf(quotaAt: (s: number) => number): NeighbourLook[] {
  const services = [0, 0, 0];
  let neighbour = 0;
  return Array.from({ length: 41 }, (_, i) => {
    const s = i - 10;
    const look = { at: 1000 * s, services: [...services], neighbour, quota: quotaAt(s) };
    const rates = s < 0 ? [500, 500, 500] : s < 7 ? [300, 200, 200] : [300, 300, 300];
    rates.forEach((rate, k) => services[k] = (services[k] ?? 0) + rate);
    neighbour += s < 0 ? 0 : s < 7 ? 1000 : 800;
    return look;
  });
}

pure(
  "neighbourFigures() has Jain's index by window and in all, and when the neighbour rests",
  () => {
    const { windows, jain, ...rest } = neighbourFigures(looksOf((s) => s < 6 ? 2000 : 800));
    assert.deepEqual(rest, { restsAfterS: 6, quota: 800 });
    assert.equal(windows.length, 6);
    assert.equal(windows[0]?.jain.toFixed(4), "0.9608");
    assert.equal(jain.toFixed(5), "0.99984");
    assert.equal(windows[5]?.neighbour, 800);
  },
);

pure("neighbourFigures() reports no rest where nothing changes", () => {
  assert.equal(neighbourFigures(looksOf(() => 2000)).restsAfterS, null);
  assert.throws(() => neighbourFigures([]), RangeError);
});
