/**
 * The scores of the runs as a text table: a line per algorithm where it fits, else a line per measure.
 *
 * @module
 */
import type { RunRecord } from "../../lab/simulation/run_record.ts";
import { shorten } from "../../lab/simulation/report/html.ts";
import { isBest, SCORE_MEASURES } from "../../lab/simulation/report/score_measures.ts";
import { paint, type TerminalLook } from "./terminal_text.ts";

/** Longer names of algorithms are cut. */
const ALGORITHM_WIDTH = 20;
const GAPS = [2, 1];

interface Cell {
  readonly text: string;
  readonly best: boolean;
}

/** The table, each line ended by a line feed; empty without runs. */
export function scoreTable(runs: readonly RunRecord[], look: TerminalLook = {}): string {
  const { columns = 80 } = look;
  if (runs.length === 0) return "";
  for (const gap of GAPS) {
    const lines = algorithmPerLine(runs, { look, gap });
    if (lines.width <= columns) return lines.text;
  }
  return measurePerLine(runs, look);
}

function cellsOf(runs: readonly RunRecord[]): Cell[][] {
  return SCORE_MEASURES.map((measure) =>
    runs.map((run) => ({ text: measure.text(run), best: isBest(measure, run, { runs }) }))
  );
}

function algorithmPerLine(
  runs: readonly RunRecord[],
  { look, gap }: { readonly look: TerminalLook; readonly gap: number },
): { text: string; width: number } {
  const cells = cellsOf(runs).map((column) =>
    column.map(({ text, best }) => ({ text: text.replace(/ (?:\/|of) /, "/"), best }))
  );
  const algorithms = [
    "algorithm",
    "",
    ...runs.map((run) => shorten(run.algorithm, ALGORITHM_WIDTH)),
  ];
  const algorithmWidth = Math.max(...algorithms.map((algorithm) => algorithm.length));
  const widths = SCORE_MEASURES.map(({ head }, column) =>
    Math.max(...head.map((label) => label.length), ...(cells[column] ?? []).map(widthOf))
  );
  const space = " ".repeat(gap);
  const heads = [0, 1].map((line) => {
    const cellTexts = SCORE_MEASURES.map(({ head }, column) =>
      (head[line] ?? "").padStart(widths[column] ?? 0)
    );
    return paint(
      [(algorithms[line] ?? "").padEnd(algorithmWidth), ...cellTexts].join(space),
      "dim",
      look,
    );
  });
  const body = runs.map((_, row) => {
    const cellTexts = cells.map((column, index) =>
      aligned(column[row], { width: widths[index] ?? 0, look })
    );
    return [(algorithms[row + 2] ?? "").padEnd(algorithmWidth), ...cellTexts].join(space);
  });
  const width = algorithmWidth + widths.reduce((sum, one) => sum + one + gap, 0);
  return { text: [...heads, ...body].map(lineOf).join(""), width };
}

function measurePerLine(runs: readonly RunRecord[], look: TerminalLook): string {
  const { columns = 80 } = look;
  const cells = cellsOf(runs);
  const names = SCORE_MEASURES.map(({ head }) => head.join(" "));
  const nameWidth = Math.max(...names.map((name) => name.length));
  const algorithms = runs.map((run) => shorten(run.algorithm, ALGORITHM_WIDTH));
  const widths = algorithms.map((algorithm, index) =>
    Math.max(algorithm.length, ...cells.map((row) => widthOf(row[index])))
  );
  const full = nameWidth + widths.reduce((sum, width) => sum + width + 2, 0);
  if (full > columns && runs.length > 1) {
    // Too many algorithms for the width: halve them, a table below the other.
    const half = Math.ceil(runs.length / 2);
    return `${measurePerLine(runs.slice(0, half), look)}\n${
      measurePerLine(runs.slice(half), look)
    }`;
  }
  const head = [
    "".padEnd(nameWidth),
    ...algorithms.map((algorithm, index) => algorithm.padStart(widths[index] ?? 0)),
  ];
  const body = cells.map((row, measure) => {
    const cellTexts = row.map((cell, index) => aligned(cell, { width: widths[index] ?? 0, look }));
    return [(names[measure] ?? "").padEnd(nameWidth), ...cellTexts].join("  ");
  });
  return [paint(head.join("  "), "dim", look), ...body].map(lineOf).join("");
}

function widthOf(cell: Cell | undefined): number {
  return cell?.text.length ?? 0;
}

/** The cell at the right of its column; only its characters are painted, so widths stay true. */
function aligned(
  cell: Cell | undefined,
  { width, look }: { readonly width: number; readonly look: TerminalLook },
): string {
  const { text, best } = cell ?? { text: "", best: false };
  const space = " ".repeat(Math.max(0, width - text.length));
  return space + (best ? paint(text, "green", look) : text);
}

function lineOf(line: string): string {
  return `${line.trimEnd()}\n`;
}
