/**
 * The arena's findings as text tables.
 *
 * @module
 */
import {
  bestPerAlgorithm,
  ENTRIES,
  findEntry,
  isRival,
  isSameEntry,
  outcomeColumns,
} from "./outcome.ts";
import type { Goal } from "./goals.ts";
import type { StageResult } from "./stages.ts";
import { formatFigure, NO_FIGURE } from "../simulation/report/figure.ts";
import { shorten } from "../simulation/report/html.ts";
import { alignedRows } from "../../cli/terminal/aligned_rows.ts";
import { paint, type TerminalStyle } from "../../cli/terminal/terminal_text.ts";

const NAME_WIDTH = 24;

/**
 * A stage: the best setting of each rival, then the yardsticks, CoAllocator and the oracle.
 * Medians over the seeds.
 */
export function stageTable(result: StageResult, style: TerminalStyle = {}): string {
  const { name, minutes, seeds, sloMs, p95Cores, outcomes } = result;
  const { equalCores, unlimited, alone, coallocator, tight, oracle } = ENTRIES;
  const rows = [
    ...bestPerAlgorithm(outcomes.filter(isRival)),
    ...[equalCores, unlimited, alone, coallocator, tight, oracle]
      .flatMap((entry) => findEntry(outcomes, entry) ?? []),
  ];
  const columns = outcomeColumns(rows, result);
  const scaled = p95Cores === undefined ? "" : `, P95 scaled to ${p95Cores} CPUs`;
  const count = `${seeds} ${seeds === 1 ? "seed" : "seeds"}`;
  const title = `${shorten(name, 60)}: ${minutes} min, ${count}, SLO P99 ≤ ${sloMs} ms${scaled}`;
  const body = rows.map((row) => ({
    cells: [
      row.algorithm,
      shorten(row.setting, NAME_WIDTH),
      row.sloHeld ? "held" : "missed",
      ...columns.map(({ text }) => text(row)),
    ],
    isCoallocator: isSameEntry(row, coallocator),
  }));
  return [
    `${paint(title, "bold", style)}\n`,
    ...aligned([
      ["", "", "", ...columns.map(({ head }) => head[0])],
      ["algorithm", "setting", "SLO", ...columns.map(({ head }) => head[1])],
    ], { body, style }),
  ].join("");
}

/** The goals of our algorithm, and whether it reached them. */
export function goalTable(goals: readonly Goal[], style: TerminalStyle = {}): string {
  const head = [["", "goal", "", "coallocator", "", "best rival", ""]];
  const body = goals.map((goal) => ({
    cells: [
      shorten(`${goal.measure}: ${goal.where}`, 72),
      `${goal.bound === "at most" ? "≤" : "≥"} ${formatFigure(goal.goal)}`,
      "",
      Number.isNaN(goal.coallocator) ? "SLO missed" : formatFigure(goal.coallocator),
      goal.met
        ? "met"
        : goal.missedBy === undefined
        ? "missed"
        : `missed by ${formatFigure(goal.missedBy)}`,
      goal.bestRival === undefined ? NO_FIGURE : formatFigure(goal.bestRival.value),
      goal.bestRival ? shorten(`${goal.bestRival.algorithm} ${goal.bestRival.setting}`, 30) : "",
    ],
    isCoallocator: goal.met,
  }));
  const title = `${paint("Goals of coallocator", "bold", style)}\n`;
  return title + aligned(head, { body, style, left: [0, 4, 6] }).join("");
}

interface Row {
  readonly cells: readonly string[];
  readonly isCoallocator: boolean;
}

function aligned(
  head: readonly (readonly string[])[],
  { body, style, left = [0, 1] }: {
    readonly body: readonly Row[];
    readonly style: TerminalStyle;
    /** Columns that begin at their left. */
    readonly left?: readonly number[];
  },
): string[] {
  const rows = [...head, ...body.map(({ cells }) => cells)];
  return alignedRows(rows, { gap: "  ", left }).map((line, index) => {
    if (index < head.length) return `${paint(line, "dim", style)}\n`;
    return `${body[index - head.length]?.isCoallocator ? paint(line, "green", style) : line}\n`;
  });
}
