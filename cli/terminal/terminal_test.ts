import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { listenForInterrupt } from "./interrupt.ts";
import { showProgress } from "./progress_line.ts";
import { requestChart, type RequestStretch } from "./request_chart.ts";
import { paint, printableText, textLines, wantsColor, writeWhole } from "./terminal_text.ts";

pure("paint() uses colour only where wantsColor(): on a terminal without NO_COLOR", () => {
  assert.equal(paint("7", "bold", { color: true }), "\x1b[1m7\x1b[22m");
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
