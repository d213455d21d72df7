import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import { requestChart, type RequestStretch } from "./request_chart.ts";

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
