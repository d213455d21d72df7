import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import type { RunRecord } from "../../lab/simulation/run_record.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { coresChart, throttlingChart } from "./chart.ts";

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
