import assert from "node:assert/strict";
import { SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import type { RunRecord, RunScores } from "../../lab/simulation/run_record.ts";
import { syntheticRuns } from "../../tests/fixtures/lab/run_records.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { coresChart, throttlingChart } from "./chart.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { progressLine, showProgress } from "./progress_line.ts";
import { requestChart, type RequestStretch } from "./request_chart.ts";
import { scoreTable } from "./score_table.ts";
import { paint, printableText, textLines, wantsColor, writeWhole } from "./terminal_text.ts";

pure("paint() uses colour only where wantsColor(): on a terminal without NO_COLOR", () => {
  assert.equal(paint("7", "bold", { color: true }), "\x1b[1m7\x1b[0m");
  assert.deepEqual([paint("7", "bold", {}), paint("", "bold", { color: true })], ["7", ""]);
  for (const noColor of [undefined, "", "0"]) {
    assert.equal(wantsColor({ isTerminal: true, noColor }), noColor !== "0");
  }
  assert.equal(wantsColor({ isTerminal: false, noColor: undefined }), false);
});

pure("printableText() keeps text, lines and our colours, and drops what a terminal obeys", () => {
  const text = "P90 × 1.2\t„so“ 日本 ██▒ a→b\n";
  const red = paint("red", "red", { color: true });
  assert.equal(printableText(text + red, { color: true }), text + red);
  assert.equal(printableText(red, { color: false }), " red ");
  for (const color of [false, true]) {
    assert.equal(
      printableText("\x1b[2Ja\x9b1mb\r\x07c\u202ed\ud800e\u2028", { color }),
      " [2Ja 1mb  c d e ",
    );
    // Conceal, blink and what is no colour of ours.
    for (const one of ["\x1b[8m", "\x1b[5m", "\x1b[1;8m", "\x1b[38;5;1m", "\x1b[01m"]) {
      assert.equal(printableText(one, { color }), one.replace("\x1b", " "));
    }
  }
});

pure("textLines() ends each line once, whatever is in it", () => {
  assert.equal(textLines(["a\r\nb", "c\u2028\u0085d", ""]), "a b\nc d\n\n");
  assert.equal(textLines([]), "");
});

pure("writeWhole() goes on where a write has taken only a part", () => {
  const taken: number[] = [];
  const sink = {
    writeSync(bytes: Uint8Array): number {
      const part = bytes.subarray(0, 3);
      taken.push(...part);
      return part.length;
    },
  };
  writeWhole("200m → 450m\n", sink);
  assert.equal(new TextDecoder().decode(new Uint8Array(taken)), "200m → 450m\n");
  taken.length = 0;
  writeWhole("", sink);
  assert.deepEqual(taken, []);
});

function signals() {
  const listeners = new Set<() => void>();
  return {
    listeners,
    source: {
      addSignalListener: (_signal: Deno.Signal, listener: () => void) =>
        void listeners.add(listener),
      removeSignalListener: (_signal: Deno.Signal, listener: () => void) =>
        void listeners.delete(listener),
    },
    press: () => listeners.forEach((listener) => listener()),
  };
}

pure("listenForInterrupt() aborts at the first Ctrl-C, and leaves the second to the system", () => {
  const { listeners, source, press } = signals();
  const interrupt = listenForInterrupt(source);
  assert.deepEqual([interrupt.signal.aborted, listeners.size], [false, 1]);
  press();
  assert.deepEqual([interrupt.signal.aborted, listeners.size], [true, 0]);
  assert.equal(interrupt.runBlocking(() => 7), 7);
  assert.equal(listeners.size, 0);
  interrupt.end();
});

pure("listenForInterrupt() leaves Ctrl-C to the system while a question blocks", () => {
  const { listeners, source } = signals();
  const interrupt = listenForInterrupt(source);
  assert.equal(interrupt.runBlocking(() => listeners.size), 0);
  assert.equal(listeners.size, 1);
  assert.throws(() =>
    interrupt.runBlocking(() => {
      throw new RangeError("no terminal");
    }), /no terminal/);
  assert.equal(listeners.size, 1);
  interrupt.end();
  assert.equal(listeners.size, 0);
});

pure("progressLine() estimates what is left from what is gone", () => {
  assert.equal(progressLine({ share: 0.25, elapsedS: 61 }), "25 % · 1:01 gone · about 3:03 left");
  assert.equal(progressLine({ share: 0.001, elapsedS: 1 }), "0 % · 0:01 gone");
  assert.equal(progressLine({ share: 1, elapsedS: 600 }), "100 % · 10:00 gone");
});

/** Output of a display for these shares, in steps of 10 s. */
function shown(isTerminal: boolean, ...shares: readonly number[]): string[] {
  const written: string[] = [];
  let now = 0;
  const write = (text: string) => void written.push(text);
  const { report, end } = showProgress({ write, now: () => now, isTerminal });
  for (const share of shares) {
    now += 10_000;
    report(share);
  }
  end();
  return written;
}

pure("showProgress() writes a line per tenth, and on a terminal one that is rewritten", () => {
  assert.deepEqual(shown(false, 0.05, 0.1, 0.15, 0.3), [
    "10 % · 0:20 gone · about 3:00 left\n",
    "30 % · 0:40 gone · about 1:33 left\n",
  ]);
  assert.deepEqual(shown(true, 0.005, 0.01, 0.015, 1), [
    "\r\x1b[K1 % · 0:20 gone · about 33:00 left",
    "\r\x1b[K100 % · 0:40 gone",
    "\n",
  ]);
  assert.deepEqual(shown(true), []);
});

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

const OURS: RunScores = {
  throttledMsPerS: 12.34,
  p50Ms: 8.126,
  p99Ms: 76.54,
  p999Ms: 168.4,
  requests: 1000,
  failed: 0,
  late: 2,
  coresAllocated: 5.955,
  coresUsed: 3.9,
  changesPerPodMinute: 0.41,
  reactionMsMedian: 412,
  reactionMsP95: 783.4,
  bursts: 12,
  burstsMissed: 1,
  jain: 0.99987,
  peakCommitted: 7.512,
  overCapacityS: 0,
};

const { reactionMsMedian: _median, reactionMsP95: _p95, ...UNREACTED } = OURS;
const STATIC: RunScores = {
  ...UNREACTED,
  throttledMsPerS: 361.4,
  p50Ms: 9.62,
  p99Ms: 336,
  p999Ms: 739,
  failed: 10,
  late: 30,
  coresUsed: 3.32,
  changesPerPodMinute: 0,
  burstsMissed: 12,
  jain: 0.9312,
  peakCommitted: 5.955,
};

function scored(algorithm: string, scores: RunScores): RunRecord {
  const [made] = syntheticRuns({ pods: 1, minutes: 1 });
  assert(made !== undefined);
  return { ...made, algorithm, scores };
}

const RUNS = [scored("ours", OURS), scored("static", STATIC)];

pure("scoreTable() has a line per algorithm, with units in the head, on 120 columns", () => {
  assert.equal(
    scoreTable(RUNS, { columns: 120 }),
    `\
algorithm  throttled   P50   P99  P99.9  failed or  allocated   used   changes    reaction  missed  Jain's  peak/cap.
                ms/s    ms    ms     ms    late, %      cores  cores  /pod/min  p50/p95 ms  bursts   index      cores
ours            12.3  8.13  76.5    168      0.200       5.96   3.90     0.410     412/783    1/12  0.9999  7.51/7.60
static           361  9.62   336    739       4.00       5.96   3.32         0           –   12/12  0.9312  5.96/7.60
`,
  );
});

pure("scoreTable() stacks the measures on 80 columns", () => {
  assert.equal(
    scoreTable(RUNS),
    `\
                            ours       static
throttled ms/s              12.3          361
P50 ms                      8.13         9.62
P99 ms                      76.5          336
P99.9 ms                     168          739
failed or late, %          0.200         4.00
allocated cores             5.96         5.96
used cores                  3.90         3.32
changes /pod/min           0.410            0
reaction p50/p95 ms    412 / 783            –
missed bursts            1 of 12     12 of 12
Jain's index              0.9999       0.9312
peak/cap. cores      7.51 / 7.60  5.96 / 7.60
`,
  );
});

pure("scoreTable() emphasises the best of a measure with colour, and nothing without", () => {
  const painted = scoreTable(RUNS, { columns: 120, color: true });
  assert(painted.includes("\x1b[32m12.3\x1b[0m"));
  assert(!painted.includes("\x1b[32m361\x1b[0m"));
  // Equal figures have no best, and used cores no better direction.
  assert(!painted.includes("\x1b[32m5.96\x1b[0m"));
  assert(!painted.includes("\x1b[32m3.90\x1b[0m"));
  // deno-lint-ignore no-control-regex -- escape sequences are what is looked for
  assert.equal(painted.replaceAll(/\x1b\[\d+m/g, ""), scoreTable(RUNS, { columns: 120 }));
  assert(!scoreTable(RUNS, { columns: 120 }).includes("\x1b"));
});

pure("scoreTable() keeps to the width it is given and shows every algorithm and measure", () => {
  for (const columns of [60, 80, 120, 200]) {
    const runs = syntheticRuns({ pods: 200, minutes: 3 });
    const table = scoreTable(runs, { columns });
    for (const line of table.split("\n")) assert(line.length <= columns, `${columns}: ${line}`);
    for (const { algorithm } of runs) assert(table.includes(algorithm), algorithm);
    for (const { head } of SCORE_MEASURES) assert(table.includes(head[0]), head[0]);
  }
  assert.equal(scoreTable([]), "");
});
