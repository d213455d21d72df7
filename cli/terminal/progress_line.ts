/**
 * How far the runs are: one line that is rewritten in place on a terminal, and elsewhere a line
 * of its own for each tenth, so that a log stays short.
 *
 * @module
 */
import { formatFigure } from "../../lab/simulation/report/figure.ts";
import { shorten } from "../../lab/simulation/report/html.ts";

/** How far one run is. */
export interface RunProgress {
  readonly algorithm: string;
  /** Virtual seconds done. */
  readonly doneS: number;
  /** Virtual seconds in all, above 0. */
  readonly totalS: number;
  /** Real seconds since the run began. */
  readonly elapsedS: number;
}

/** The new state, and where it is written. */
export interface ProgressUpdate {
  readonly runs: readonly RunProgress[];
  readonly isTerminal: boolean;
  /** Characters in a line of the terminal. @default {80} */
  readonly columns?: number;
}

/** What has been written so far; begin with {@linkcode NO_PROGRESS}. */
export interface ProgressMemory {
  /** Tenths reported per algorithm, for output that is not a terminal. */
  readonly tenths: ReadonlyMap<string, number>;
  /** The line that stands on the terminal. */
  readonly line: string;
}

/** Nothing written yet. */
export const NO_PROGRESS: ProgressMemory = { tenths: new Map(), line: "" };

const BACK_AND_CLEAR = "\r\x1b[K";
const BETWEEN = "  |  ";

/** Shorter runs count seconds. */
const SHORT_S = 600;

/** One run as text: `ours 42 % · 12 m of 30 m · 3.1 s`. */
export function progressLine(run: RunProgress): string {
  const { algorithm, doneS, totalS, elapsedS } = run;
  const total = formatFigure(totalS / 60).replace(/\.0+$/, "");
  const done = totalS < SHORT_S
    ? `${Math.floor(doneS)} s of ${totalS} s`
    : `${Math.floor(doneS / 60)} m of ${total} m`;
  return `${algorithm} ${percent(run)} % · ${done} · ${elapsedS.toFixed(1)} s`;
}

/**
 * What to write for the new state, with what to remember. On a terminal all runs share a line that
 * replaces the last; the text is empty if nothing would change.
 */
export function nextProgress(
  memory: ProgressMemory,
  update: ProgressUpdate,
): { text: string; memory: ProgressMemory } {
  return update.isTerminal ? rewritten(memory, update) : appended(memory, update.runs);
}

/** What to write after the last state: on a terminal, the line is left standing. */
export function endProgress(memory: ProgressMemory): string {
  return memory.line === "" ? "" : "\n";
}

function rewritten(
  memory: ProgressMemory,
  { runs, columns = 80 }: ProgressUpdate,
): { text: string; memory: ProgressMemory } {
  const full = runs.map(progressLine).join(BETWEEN);
  const short = runs.map((run) => `${run.algorithm} ${percent(run)} %`).join(BETWEEN);
  // A full line would wrap on some terminals, and a wrapped line can't be taken back.
  const line = shorten(full.length < columns ? full : short, columns - 1);
  return line === memory.line
    ? { text: "", memory }
    : { text: BACK_AND_CLEAR + line, memory: { ...memory, line } };
}

function appended(
  memory: ProgressMemory,
  runs: readonly RunProgress[],
): { text: string; memory: ProgressMemory } {
  const due = runs.filter((run) => tenth(run) > (memory.tenths.get(run.algorithm) ?? 0));
  const tenths = new Map(memory.tenths);
  for (const run of due) tenths.set(run.algorithm, tenth(run));
  return {
    text: due.map((run) => `${progressLine(run)}\n`).join(""),
    memory: { ...memory, tenths },
  };
}

function percent({ doneS, totalS }: RunProgress): number {
  return Math.max(0, Math.min(100, Math.floor(100 * doneS / totalS)));
}

function tenth(run: RunProgress): number {
  return Math.floor(percent(run) / 10);
}
