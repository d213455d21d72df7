import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { COALLOCATOR, type PlayedRules, VPA } from "../simulation/rightsizing/play_rules.ts";
import { quantile } from "../simulation/statistics.ts";
import { backTestTable } from "./backtest/report.ts";
import { ownScenes, playOptions, shippedScenes } from "./backtest/scenes.ts";
import { neighbourFigures, type NeighbourLook } from "./neighbour/report.ts";
import { reactionGoals, reactionOf } from "./reaction/report.ts";
import { type AppAlgorithm, appReport, type AppResult, mediansOf } from "./real_apps/app_result.ts";
import { APPS, BURST_S, burstTurns, TURN_S } from "./real_apps/apps.ts";
import { parseAttack, requestFigures } from "./real_apps/load.ts";
import type { Judgement } from "../simulation/rightsizing/replay_rule.ts";

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

Deno.test("appReport() has a row for each phase, algorithm and app, and the neighbour's CPU", () => {
  const lines = appReport(RESULTS).split("\n");
  assert.match(
    lines[1] ?? "",
    /^alone +fixed +nginx +2\.0 +200\.0 +10\.0 +10\.0 % +0\.5 %$/,
  );
  assert.ok(lines.some((line) => /^none, seed 1: .* 900m$/.test(line)));
  assert.equal(lines.indexOf(""), 1 + 2 * 2 * 3);
  assert.match(lines.at(-1) ?? "", /nginx 1\.22\.1, kernel 6\.18/);
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

Deno.test("parseAttack() refuses a line that is no request, and takes a first one that is late", () => {
  assert.throws(() => parseAttack("Requests [total]\n", { rate: 1 }), { name: "SyntaxError" });
  const csv = [row(1_030_000_000, {}), row(1_010_000_000, { number: 1 })].join("\n");
  const latencies = parseAttack(csv, { rate: 100 }).map(({ latencyMs }) => latencyMs);
  assert.deepEqual(latencies, [32, 2]);
});

function judgement(coverage: number, waste: number, kills = 0): Judgement {
  return {
    minutes: 60,
    coverage,
    waste,
    lack: 0,
    overLimitMinutes: 7,
    longestShortMinutes: 0,
    changes: 0,
    changesPerDay: 0,
    kills,
    days: [],
  };
}

/** Two rules on three series. */
function twoRules(): PlayedRules {
  const series = [
    { name: "one", ours: judgement(0.9, 2, 3), vpa: judgement(0.95, 1) },
    { name: "two", ours: judgement(0.99, 1), vpa: judgement(0.95, 1) },
    { name: "three", ours: judgement(0.9, 3), vpa: judgement(0.95, 1) },
  ];
  const days = { p50: 0, p90: 0.125, p99: 1 };
  return {
    series: series.map(({ name, ours, vpa }) => ({
      name,
      rules: [{ label: COALLOCATOR, judgement: ours }, { label: VPA, judgement: vpa }],
    })),
    rules: [COALLOCATOR, VPA].map((label) => ({
      label,
      coverage: 0.93,
      waste: 2,
      changesPerDay: 1.25,
      shortDays: days,
      wasteDays: days,
      overLimitMinutes: 21,
      kills: 3,
    })),
  };
}

pure("backTestTable() has a line per rule, and one per rule for the series", () => {
  const text = backTestTable([{ title: "CPU", resource: "cpu", result: twoRules() }]);
  assert.match(text, /^CPU\nrule +covered % +short days % +waste +waste days +changes +min over/);
  assert.match(text, /^vpa, its updater +93\.00 +0\.0 12\.5 100\.0 +2\.00 .* 1\.25 +21$/m);
  assert.match(text, /^coallocator.* 24 h +90\.00\/2\.00 3k +99\.00\/1\.00 +90\.00\/3\.00$/m);
  assert.doesNotMatch(text, /kills$/m);
});

pure("backTestTable() counts kills of memory", () => {
  const text = backTestTable([{ title: "Memory", resource: "memory", result: twoRules() }]);
  assert.match(text, /^rule .* kills$/m);
  assert.match(text, /^vpa, its updater .* 3$/m);
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

pure("neighbourFigures() finds when equal services are equal and the neighbour rests", () => {
  const figures = neighbourFigures(looksOf((s) => s < 6 ? 2000 : 800));
  assert.deepEqual(
    { ...figures, windows: figures.windows.length },
    {
      alone: 500,
      windows: 6,
      // A window from 6.5 s holds half a second of unequal shares, which looks a second apart hide.
      fairAfterS: 6.5,
      jain: figures.jain,
      restsAfterS: 6,
      quota: 800,
      service: figures.service,
      neighbour: figures.neighbour,
    },
  );
  assert.equal(figures.windows[0]?.jain.toFixed(4), "0.9608");
  assert.equal(figures.jain.toFixed(5), "0.99984");
  assert.equal(figures.windows[5]?.neighbour, 800);
});

pure("neighbourFigures() reports neither where nothing changes", () => {
  const unequal = looksOf(() => 2000).map((look) => ({ ...look, services: [look.at, 0, 0] }));
  const { fairAfterS, restsAfterS } = neighbourFigures(unequal);
  assert.deepEqual([fairAfterS, restsAfterS], [null, null]);
  assert.throws(() => neighbourFigures([]), RangeError);
});
