import assert from "node:assert/strict";
import { requestFigures } from "./app_figures.ts";
import { appReport, mediansOf } from "./app_report.ts";
import { type AppAlgorithm, type AppResult, readAppResult, writeAppResult } from "./app_result.ts";
import { APPS } from "./apps.ts";

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
    ...{ algorithm, seed, minutes: 3, at: "2026-01-01T00:00:00.000Z", kernel: "6.18" },
    versions: { nginx: "1.22.1" },
    ...{ busyCores: 1, loadCores: 0.1, neighbourUsed: 900 },
    apps: APPS.map(({ name }) => ({ name, mostReplicas: seed, phases })),
    changes: [],
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

Deno.test("readAppResult() finds the result of an algorithm, a seed and a length, and no other", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const [written] = RESULTS;
    assert.ok(written !== undefined);
    await writeAppResult(folder, written);
    const key = { folder, algorithm: "fixed", seed: 1, minutes: 3 } as const;
    assert.deepEqual(await readAppResult(key), written);
    assert.equal(await readAppResult({ ...key, seed: 2 }), undefined);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
