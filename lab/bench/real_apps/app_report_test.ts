import assert from "node:assert/strict";
import { appReport, mediansOf } from "./app_report.ts";
import type { AppAlgorithm, AppResult } from "./app_result.ts";
import { APPS, BURST_S, burstTurns, TURN_S } from "./apps.ts";
import { parseAttack, requestFigures } from "./load.ts";

const FIGURES = {
  ...{ requests: 200, failed: 1, late: 20, p50Ms: 2, p99Ms: 400, quietP99Ms: 10 },
  ...{ throttledMsPerS: 30, used: 110 },
};

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
    ...{ busyCores: 1, loadCores: 0.1, neighbourUsed: 900 },
    apps: APPS.map(({ name }) => ({ name, mostReplicas: seed, changes: [], phases })),
  };
}

const RESULTS = [
  ...[100, 400, 200].map((p99Ms, run) => result("fixed", { seed: run + 1, p99Ms })),
  result("none", { seed: 1, p99Ms: 50 }),
];

Deno.test("mediansOf() takes them over an algorithm's runs, and the most replicas", () => {
  const fixed = mediansOf(RESULTS).filter(({ algorithm, app }) =>
    algorithm === "fixed" && app === "redis"
  );
  assert.deepEqual(
    fixed.map(({ phase, runs, figures, mostReplicas }) => [
      ...[phase, runs, figures.p99Ms, mostReplicas],
    ]),
    [["alone", 3, 200, 3], ["neighbour", 3, 400, 3]],
  );
});

Deno.test("appReport() has a row for each phase, algorithm and app, and P99 against no limits", () => {
  const lines = appReport(RESULTS).split("\n");
  assert.match(
    lines[1] ?? "",
    /^alone +fixed +nginx +2\.0 +200\.0 +10\.0 +10\.0 % +0\.5 % +30\.0 +110 +3$/,
  );
  // 1 CPU in all, 0.1 of the load, three apps of 0.11, and 0.9 of the neighbour for half the time.
  assert.ok(lines.some((line) => /^none, seed 1: .* 900m, .* 0\.12 CPUs/.test(line)));
  assert.equal(lines.indexOf(""), 1 + 2 * 2 * 3);
  assert.ok(lines.some((line) => /^alone, fixed, deno: .* 4\.00 times/.test(line)));
  assert.ok(lines.some((line) => /^neighbour, none, deno: .* 1\.50 times/.test(line)));
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
