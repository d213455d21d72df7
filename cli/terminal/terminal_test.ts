import assert from "node:assert/strict";
import { pure } from "../../tests/fixtures/pure.ts";
import { paint, printableText, textLines, wantsColor, writeWhole } from "./terminal_text.ts";
import { listenForInterrupt } from "./interrupt.ts";
import {
  endProgress,
  nextProgress,
  NO_PROGRESS,
  progressLine,
  type RunProgress,
} from "./progress_line.ts";

pure("paint() wraps text in escape sequences only with colour", () => {
  assert.equal(paint("7", "bold", { color: true }), "\x1b[1m7\x1b[0m");
  assert.equal(paint("7", "bold", {}), "7");
  assert.equal(paint("", "bold", { color: true }), "");
});

pure("wantsColor() respects NO_COLOR and output that is no terminal", () => {
  assert.equal(wantsColor({ isTerminal: true, noColor: undefined }), true);
  assert.equal(wantsColor({ isTerminal: true, noColor: "" }), true);
  assert.equal(wantsColor({ isTerminal: true, noColor: "0" }), false);
  assert.equal(wantsColor({ isTerminal: false, noColor: undefined }), false);
});

pure(
  "printableText() keeps text, lines and our own colours, and drops what a terminal obeys",
  () => {
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
  },
);

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
  assert.equal(interrupt.unheard(() => 7), 7);
  assert.equal(listeners.size, 0);
  interrupt.end();
});

pure("listenForInterrupt() leaves Ctrl-C to the system while a question blocks", () => {
  const { listeners, source } = signals();
  const interrupt = listenForInterrupt(source);
  assert.equal(interrupt.unheard(() => listeners.size), 0);
  assert.equal(listeners.size, 1);
  assert.throws(() =>
    interrupt.unheard(() => {
      throw new RangeError("no terminal");
    }), /no terminal/);
  assert.equal(listeners.size, 1);
  interrupt.end();
  assert.equal(listeners.size, 0);
});

function at(algorithm: string, percent: number): RunProgress {
  return { algorithm, doneS: 18 * percent, totalS: 1800, elapsedS: percent / 10 };
}

pure("progressLine() says how far one run is", () => {
  const run = { algorithm: "ours", doneS: 756, totalS: 1800, elapsedS: 3.14 };
  assert.equal(progressLine(run), "ours 42 % · 12 m of 30 m · 3.1 s");
  assert.equal(progressLine(at("static", 100)), "static 100 % · 30 m of 30 m · 10.0 s");
  const short = { ...run, doneS: 40, totalS: 120 };
  assert.equal(progressLine(short), "ours 33 % · 40 s of 120 s · 3.1 s");
});

pure("nextProgress() rewrites one line on a terminal, and only if it changed", () => {
  const look = { isTerminal: true, columns: 100 };
  const first = nextProgress(NO_PROGRESS, { runs: [at("ours", 50), at("static", 0)], ...look });
  assert.equal(
    first.text,
    "\r\x1b[Kours 50 % · 15 m of 30 m · 5.0 s  |  static 0 % · 0 m of 30 m · 0.0 s",
  );
  const again = { runs: [at("ours", 50), at("static", 0)], ...look };
  assert.equal(nextProgress(first.memory, again).text, "");
  assert.equal(endProgress(first.memory), "\n");
  assert.equal(endProgress(NO_PROGRESS), "");
});

pure("nextProgress() leaves out parts, then letters, so that a terminal's line never wraps", () => {
  const runs = [at("ours", 50), at("static", 7)];
  const narrow = nextProgress(NO_PROGRESS, { runs, isTerminal: true, columns: 40 });
  assert.equal(narrow.text, "\r\x1b[Kours 50 %  |  static 7 %");
  const tiny = nextProgress(NO_PROGRESS, { runs, isTerminal: true, columns: 12 });
  assert.equal(tiny.text, "\r\x1b[Kours 50 % …");
});

pure("nextProgress() writes a line per tenth and algorithm where there is no terminal", () => {
  let memory = NO_PROGRESS;
  const lines: string[] = [];
  for (let percent = 0; percent <= 100; percent++) {
    const step = nextProgress(memory, { runs: [at("ours", percent)], isTerminal: false });
    memory = step.memory;
    if (step.text !== "") lines.push(step.text);
  }
  assert.equal(lines.length, 10);
  assert.equal(lines[0], "ours 10 % · 3 m of 30 m · 1.0 s\n");
  assert.equal(lines[9], "ours 100 % · 30 m of 30 m · 10.0 s\n");
  const other = nextProgress(memory, { runs: [at("static", 35)], isTerminal: false });
  assert.equal(other.text, "static 35 % · 10 m of 30 m · 3.5 s\n");
  assert.equal(endProgress(other.memory), "");
});
