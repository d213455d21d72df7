/**
 * The scores of the runs as a text table: a line per algorithm where it fits, else a line per measure.
 *
 * @module
 */
import type { RunRecord } from "../simulation/run_record.ts";
import { shorten } from "../simulation/report/html.ts";
import { isBest, SCORE_MEASURES } from "../simulation/report/score_measures.ts";
import { alignedRows, type Cell } from "../../cli/terminal/aligned_rows.ts";
import { paint, type TerminalLook, textWidth } from "../../cli/terminal/terminal_text.ts";

/** Longer names of algorithms are cut. */
const ALGORITHM_WIDTH = 20;
const GAPS = ["  ", " "];

/** The table, each line ended by a line feed; empty without runs. */
export function scoreTable(runs: readonly RunRecord[], look: TerminalLook = {}): string {
  const { columns = 80 } = look;
  if (runs.length === 0) return "";
  for (const gap of GAPS) {
    if (widthOf(algorithmPerLine(runs, { gap })) <= columns) {
      return textOf(algorithmPerLine(runs, { gap, look }), { heads: 2, look });
    }
  }
  return measurePerLine(runs, look);
}

/** By measure and run; the best figure is set apart. */
function cellsOf(runs: readonly RunRecord[]): Cell[][] {
  return SCORE_MEASURES.map((measure) =>
    runs.map((run) => {
      const text = measure.text(run);
      return isBest(measure, run, { runs }) ? { text, how: "green" } : { text };
    })
  );
}

function algorithmPerLine(
  runs: readonly RunRecord[],
  { gap, look = {} }: { readonly gap: string; readonly look?: TerminalLook },
): string[] {
  const cells = cellsOf(runs).map((column) =>
    column.map((cell) => ({ ...cell, text: cell.text.replace(/ (?:\/|of) /, "/") }))
  );
  return alignedRows(
    [
      ["algorithm", ...SCORE_MEASURES.map(({ head }) => head[0] ?? "")],
      ["", ...SCORE_MEASURES.map(({ head }) => head[1] ?? "")],
      ...runs.map((run, row) => [nameOf(run), ...cells.map((column) => column[row] ?? "")]),
    ],
    { gap, left: [0], look },
  );
}

function measurePerLine(runs: readonly RunRecord[], look: TerminalLook): string {
  const { columns = 80 } = look;
  const cells = cellsOf(runs);
  const lines = (how: TerminalLook) =>
    alignedRows(
      [
        ["", ...runs.map(nameOf)],
        ...SCORE_MEASURES.map(({ head }, index) => [head.join(" "), ...cells[index] ?? []]),
      ],
      { gap: "  ", left: [0], look: how },
    );
  if (widthOf(lines({})) <= columns || runs.length === 1) {
    return textOf(lines(look), { heads: 1, look });
  }
  // Too many algorithms for the width: halve them, a table below the other.
  const half = Math.ceil(runs.length / 2);
  return [runs.slice(0, half), runs.slice(half)].map((part) => measurePerLine(part, look))
    .join("\n");
}

function nameOf({ algorithm }: RunRecord): string {
  return shorten(algorithm, ALGORITHM_WIDTH);
}

function widthOf(lines: readonly string[]): number {
  return Math.max(...lines.map((line) => textWidth(line)));
}

function textOf(
  lines: readonly string[],
  { heads, look }: { readonly heads: number; readonly look: TerminalLook },
): string {
  return lines.map((line, index) => `${index < heads ? paint(line, "dim", look) : line}\n`)
    .join("");
}
