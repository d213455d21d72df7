import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import type { RunRecord } from "../../lab/simulation/run_record.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { coresChart, throttlingChart } from "./chart.ts";
import { requestChart, type RequestStretch } from "./request_chart.ts";

/** One pod, 20 steps of 3 s: a minute. */
function run(algorithm: string, throttled: number[]): RunRecord {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  const pod = made?.pods[0];
  assert(made !== undefined && pod !== undefined);
  return {
    ...made,
    algorithm,
    stepS: 3,
    capacity: 7600,
    sumLimits: Array.from({ length: 20 }, (_, step) => step < 10 ? 4000 : 6900),
    sumUsage: Array.from({ length: 20 }, (_, step) => step < 10 ? 2000 : 5500),
    pods: [{ ...pod, throttled }],
    scores: { ...made.scores, throttledMsPerS: 25 },
  };
}

const BUSY = Array.from({ length: 20 }, (_, step) => step >= 10 && step < 15 ? 100 : 0);

pure("coresChart() draws limits, usage and capacity that differ without colour", () => {
  assert.equal(
    coresChart(run("ours", []), { columns: 28 }),
    `\
Cores under ours
━ Σ limits   █ Σ usage   ┄ capacity, 7.6 cores
 7.98 │┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄┄
      │          ━━━━━━━━━━
 5.99 │          ▄▄▄▄▄▄▄▄▄▄
      │━━━━━━━━━━██████████
 3.99 │          ██████████
      │          ██████████
 2.00 │████████████████████
      │████████████████████
      └────────────────────
       0 m     0.5 m    1 m
`,
  );
});

pure("coresChart() alternates capacity with limits or usage where they share a line", () => {
  const near = {
    ...run("ours", []),
    sumLimits: Array.from({ length: 20 }, (_, step) => step < 10 ? 4000 : 7500),
  };
  assert.equal(
    coresChart(near, { columns: 28 }).split("\n")[2],
    " 7.98 │┄┄┄┄┄┄┄┄┄┄━┄━┄━┄━┄━┄",
  );
  const full = { ...near, sumUsage: near.sumUsage.map(() => 7400) };
  const line = coresChart({ ...full, sumLimits: full.sumLimits.map(() => 4000) }, { columns: 28 })
    .split("\n")[2] ?? "";
  assert.match(line, /│(?:[▁-█]┄){10}$/);
});

pure("throttlingChart() draws the runs on one scale", () => {
  const idle = BUSY.map((value) => value / 10);
  assert.equal(
    throttlingChart([run("ours", idle), run("static", BUSY)], { columns: 28 }),
    `\
Throttled ms/s, all pods
      │ours, mean 25.0 ms/s
  100 │
      │
      │          ▂▂▂▂▂
      │static, mean 25.0 ms/s
  100 │          █████
      │          █████
      │          █████
      └────────────────────
       0 m     0.5 m    1 m
`,
  );
});

pure("throttlingChart() says that there was nothing to draw", () => {
  for (const runs of [[run("ours", BUSY.map(() => 0))], []]) {
    assert.match(throttlingChart(runs), /^No pod .*\n$/);
  }
  assert.match(coresChart({ ...run("ours", []), sumLimits: [] }), /nothing to draw/);
});

pure("coresChart() and throttlingChart() use colour only when asked, within the width", () => {
  const runs = syntheticRuns({ pods: 4, minutes: 5 });
  for (const columns of [40, 80, 200]) {
    const plain = [...runs.map((one) => coresChart(one, { columns }))];
    plain.push(throttlingChart(runs, { columns }));
    for (const line of plain.join("").split("\n")) {
      assert(!line.includes("\x1b"));
      assert(line.length <= Math.max(48, columns), line);
    }
  }
  const [ours] = runs;
  assert(ours !== undefined);
  assert(coresChart(ours, { color: true }).includes("\x1b[34m━\x1b[0m"));
});

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

/** Two days, a value an hour: 100 on the first at a request of 150, 400 on the second at 300. */
function stretches(): RequestStretch[] {
  return [[0, 100, 150], [1, 400, 300]].map(([day = 0, usage = 0, request = 0]) => ({
    fromMs: day * DAY_MS,
    atMs: Float64Array.from({ length: 24 }, (_, hour) => day * DAY_MS + hour * HOUR_MS),
    usage: Float64Array.from({ length: 24 }, () => usage),
    request,
  }));
}

const text = (value: number): string => value.toFixed(0);

pure("requestChart() draws the request over the largest usage, and where it is short", () => {
  assert.equal(
    requestChart({ title: "CPU", stretches: stretches(), text }, { columns: 28 }),
    `\
CPU
━ request   █ largest usage   ! short
  420 │          ▅▅▅▅▅▅▅▅▅▅
      │          ██████████
  315 │          ━━━━━━━━━━
      │          ██████████
  210 │          ██████████
      │━━━━━━━━━━██████████
  105 │▇▇▇▇▇▇▇▇▇▇██████████
      │████████████████████
      │          !!!!!!!!!!
      └────────────────────
       0 d      1 d     2 d
`,
  );
});

pure("requestChart() shows a peak of one sample, and leaves columns without samples empty", () => {
  const [first] = stretches();
  assert(first !== undefined);
  const usage = first.usage.map((value, hour) => hour === 3 ? 1000 : value);
  const later = { ...first, fromMs: 9 * DAY_MS, atMs: first.atMs.map((at) => at + 9 * DAY_MS) };
  const lines = requestChart({ title: "", stretches: [{ ...first, usage }, later], text }, {
    columns: 28,
  }).split("\n");
  const marks = lines.at(-4) ?? "";
  assert.equal(marks.trimEnd(), "      │!");
  assert.match(lines.at(-5) ?? "", /│█▆ +▆▆$/);
});

pure("requestChart() says that there is nothing to draw, and paints only when asked", () => {
  assert.match(requestChart({ title: "", stretches: [], text }), /^Nothing was judged/);
  const chart = { title: "CPU", stretches: stretches(), text };
  assert.equal(requestChart(chart).includes("\x1b"), false);
  assert.ok(requestChart(chart, { color: true }).includes("\x1b[31m█"));
});
