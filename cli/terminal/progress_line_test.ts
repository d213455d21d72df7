import { pure } from "../../tests/fixtures/pure.ts";
import assert from "node:assert/strict";
import {
  endProgress,
  nextProgress,
  NO_PROGRESS,
  progressLine,
  type RunProgress,
} from "./progress_line.ts";

function at(algorithm: string, percent: number): RunProgress {
  return { algorithm, doneS: 18 * percent, totalS: 1800, elapsedS: percent / 10 };
}

pure("progressLine() says how far one run is", () => {
  const run = { algorithm: "ours", doneS: 756, totalS: 1800, elapsedS: 3.14 };
  assert.equal(progressLine(run), "ours 42 % · 12 m of 30 m · 3.1 s");
  assert.equal(progressLine(at("static", 100)), "static 100 % · 30 m of 30 m · 10.0 s");
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
