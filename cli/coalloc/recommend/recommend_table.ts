/**
 * Recommendations as a table, a line for each container. Pure.
 *
 * @module
 */
import { paint, type TerminalLook } from "../../terminal/paint.ts";
import { textLines } from "../../terminal/printable_text.ts";
import { ageText, UNKNOWN, workloadTitle } from "../formats.ts";
import { type Cell, type Column, textTable } from "../output.ts";
import type { AdviceView, AdvisedContainer, AdvisedWorkload } from "./advice_view.ts";
import { changeCell, changesText, inForceText } from "./amount_text.ts";
import { detailText, plotLegend } from "./recommend_detail.ts";

/** How it is shown. */
export interface RecommendLook extends TerminalLook {
  /** More columns, and below the table what stands behind each line. @default {false} */
  readonly wide?: boolean;
  /** Workloads of several namespaces may be there. @default {true} */
  readonly namespaces?: boolean;
  /** Wall time, ms: ages are counted from it. */
  readonly nowMs: number;
}

interface Row {
  readonly workload: AdvisedWorkload;
  readonly container: AdvisedContainer;
  readonly nowMs: number;
}

interface RowColumn extends Column {
  readonly cell: (row: Row) => Cell;
  readonly wide?: true;
  /** Left out first where lines are too long: the highest goes first. */
  readonly luxury?: number;
}

const NAMESPACE = "NAMESPACE";
/** Only where a limit is recommended, or in wide tables. */
const LIMITS: readonly string[] = ["CPU LIMIT", "MEMORY LIMIT"];

const COLUMNS: readonly RowColumn[] = [
  { head: NAMESPACE, cell: ({ workload }) => ({ text: workload.namespace }) },
  { head: "WORKLOAD", cell: ({ workload }) => ({ text: workloadTitle(workload) }) },
  { head: "CONTAINER", cell: ({ container }) => ({ text: container.name }) },
  { head: "CPU", cell: ({ container }) => changeCell(container, "cpu") },
  { head: "MEMORY", cell: ({ container }) => changeCell(container, "memory") },
  { head: "CPU LIMIT", cell: ({ container }) => changeCell(container, "cpuLimit"), luxury: 2 },
  {
    head: "MEMORY LIMIT",
    cell: ({ container }) => changeCell(container, "memoryLimit"),
    luxury: 2,
  },
  {
    head: "CPU IN FORCE",
    cell: ({ container }) => ({ text: inForceText(container, "cpu") }),
    wide: true,
  },
  {
    head: "MEMORY IN FORCE",
    cell: ({ container }) => ({ text: inForceText(container, "memory") }),
    wide: true,
  },
  { head: "STATUS", cell: statusCell, luxury: 1 },
  { head: "REASON", cell: ({ workload }) => ({ text: workload.reason ?? UNKNOWN }) },
  {
    head: "POLICY",
    cell: ({ workload: { policy } }) => ({ text: `${policy.namespace}/${policy.name}` }),
    wide: true,
  },
  {
    head: "PODS",
    align: "right",
    cell: ({ workload }) => ({ text: String(workload.pods ?? UNKNOWN) }),
    wide: true,
  },
  {
    head: "RECOMMENDED",
    cell: ({ workload, nowMs }) => ageCell(workload.lastRecommendation, nowMs),
    wide: true,
  },
  {
    head: "APPLIED",
    cell: ({ workload, nowMs }) => ageCell(workload.lastApplied, nowMs),
    wide: true,
  },
];

/** The table, the sums and the notes, each line ended by a line feed. */
export function recommendTable(view: AdviceView, look: RecommendLook): string {
  const { wide = false, namespaces = true, nowMs } = look;
  if (view.workloads.length === 0) {
    return ["No recommendations here.\n", noteLines(view, look)].filter(Boolean).join("\n");
  }
  const rows = view.workloads.flatMap((workload) =>
    rowContainers(workload).map((container): Row => ({ workload, container, nowMs }))
  );
  const limits = wide ||
    rows.some(({ container: { recommended = {} } }) =>
      recommended.cpuLimit !== undefined || recommended.memoryLimit !== undefined
    );
  const columns = COLUMNS.filter(({ head, wide: wideOnly }) => {
    if (head === NAMESPACE) return namespaces;
    return LIMITS.includes(head) ? limits : wide || !wideOnly;
  });
  return [
    tableText(rows, { columns, look }),
    ...(wide ? view.workloads.map((workload) => detailText(workload, look)) : []),
    (wide ? plotLegend(view.workloads, look) : "") + footText(view, look),
  ].join("\n");
}

/** The table with as many columns as the width has room for; wide ones have all. */
function tableText(
  rows: readonly Row[],
  { columns, look }: { readonly columns: readonly RowColumn[]; readonly look: RecommendLook },
): string {
  const { wide = false, columns: width = Infinity } = look;
  for (let most = 2;; most--) {
    const shown = columns.filter(({ luxury = 0 }) => wide || luxury <= most);
    const table = { columns: shown, rows: rows.map((row) => shown.map(({ cell }) => cell(row))) };
    const longest = Math.max(...textTable(table).split("\n").map((line) => line.length));
    if (longest <= width || most === 0 || wide) return textTable(table, look);
  }
}

/** The sums and the notes, each line ended by a line feed. */
export function footText(view: AdviceView, look: TerminalLook): string {
  return `${changesText(view.changes)}\n${noteLines(view, look)}`;
}

function noteLines({ notes }: AdviceView, look: TerminalLook): string {
  return textLines(notes.map((note) => paint(note, "yellow", look)));
}

/** A workload of which no container is known has a line all the same. */
function rowContainers({ containers }: AdvisedWorkload): readonly AdvisedContainer[] {
  return containers.length > 0 ? containers : [{ name: UNKNOWN, sidecar: false, pods: [] }];
}

function statusCell({ workload: { status } }: Row): Cell {
  if (status === "Error") return { text: status, how: "red" };
  return status === "Applied" ? { text: status, how: "green" } : { text: status };
}

function ageCell(time: string | undefined, nowMs: number): Cell {
  return { text: time === undefined ? UNKNOWN : ageText(nowMs - Date.parse(time)) };
}
