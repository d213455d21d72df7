/**
 * Recommendations as a table, a line for each container. Pure.
 *
 * @module
 */
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { ageText, UNKNOWN, workloadTitle } from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import { fittedTable, type RowColumn, type RowTable } from "../output.ts";
import type {
  AdviceView,
  AdvisedContainer,
  AdvisedWorkload,
} from "../../../shared/view/advice_view.ts";
import { changesText } from "../../../shared/view/changes.ts";
import { changeCell, detailText, inForceText, plotLegend } from "./recommend_detail.ts";

/** Style of the table. */
export interface RecommendStyle extends TerminalStyle {
  /** More columns, and details below the table. @default {false} */
  readonly wide?: boolean;
  /** Whether to show namespaces. @default {true} */
  readonly namespaces?: boolean;
  /** Wall time, ms: ages are counted from it. */
  readonly nowMs: number;
}

/** A row. */
export interface AdviceRow {
  readonly workload: AdvisedWorkload;
  readonly container: AdvisedContainer;
  readonly nowMs: number;
}

const NAMESPACE = "NAMESPACE";
/** Only where a limit is recommended, or in wide tables. */
const LIMITS: readonly string[] = ["CPU LIMIT", "MEMORY LIMIT"];

const COLUMNS: readonly RowColumn<AdviceRow>[] = [
  { head: NAMESPACE, cell: ({ workload }) => workload.namespace },
  { head: "WORKLOAD", cell: ({ workload }) => workloadTitle(workload) },
  { head: "CONTAINER", cell: ({ container }) => container.name },
  { head: "CPU", cell: ({ container }) => changeCell(container, "cpu") },
  { head: "MEMORY", cell: ({ container }) => changeCell(container, "memory") },
  {
    head: "CPU LIMIT",
    cell: ({ container }) => changeCell(container, "cpuLimit"),
    dropPriority: 2,
  },
  {
    head: "MEMORY LIMIT",
    cell: ({ container }) => changeCell(container, "memoryLimit"),
    dropPriority: 2,
  },
  { head: "CPU IN FORCE", cell: ({ container }) => inForceText(container, "cpu"), wide: true },
  {
    head: "MEMORY IN FORCE",
    cell: ({ container }) => inForceText(container, "memory"),
    wide: true,
  },
  { head: "STATUS", cell: statusCell, dropPriority: 1 },
  { head: "REASON", cell: ({ workload }) => workload.reason ?? UNKNOWN },
  {
    head: "POLICY",
    cell: ({ workload: { policy: { namespace, name } } }) => `${namespace}/${name}`,
    wide: true,
  },
  {
    head: "PODS",
    align: "right",
    cell: ({ workload }) => String(workload.pods ?? UNKNOWN),
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

/** All columns, a line for each container. */
export function adviceRows({ workloads }: AdviceView, nowMs: number): RowTable<AdviceRow> {
  const rows = workloads.flatMap((workload) =>
    rowContainers(workload).map((container): AdviceRow => ({ workload, container, nowMs }))
  );
  return { rows, columns: COLUMNS };
}

/** The table, the sums and the notes, each line ended by a line feed. */
export function recommendTable(view: AdviceView, style: RecommendStyle): string {
  const { wide = false, namespaces = true, nowMs } = style;
  if (view.workloads.length === 0) {
    return ["No recommendations here.\n", noteLines(view, style)].filter(Boolean).join("\n");
  }
  const { rows } = adviceRows(view, nowMs);
  const limits = wide ||
    rows.some(({ container: { recommended = {} } }) =>
      recommended.cpuLimit !== undefined || recommended.memoryLimit !== undefined
    );
  const columns = COLUMNS.filter(({ head, wide: wideOnly }) => {
    if (head === NAMESPACE) return namespaces;
    return LIMITS.includes(head) ? limits : wide || !wideOnly;
  });
  return [
    fittedTable({ rows, columns }, wide ? { ...style, columns: Infinity } : style),
    ...(wide ? view.workloads.map((workload) => detailText(workload, style)) : []),
    (wide ? plotLegend(view.workloads, style) : "") + footText(view, style),
  ].join("\n");
}

/** The sums and the notes, each line ended by a line feed. */
export function footText(view: AdviceView, style: TerminalStyle): string {
  return `${changesText(view.changes)}\n${noteLines(view, style)}`;
}

function noteLines({ notes }: AdviceView, style: TerminalStyle): string {
  return textLines(notes.map((note) => paint(note, "yellow", style)));
}

/** Gives a workload without known containers a row, too. */
function rowContainers({ containers }: AdvisedWorkload): readonly AdvisedContainer[] {
  return containers.length > 0 ? containers : [{ name: UNKNOWN, sidecar: false, pods: [] }];
}

function statusCell({ workload: { status } }: AdviceRow): Cell | string {
  if (status === "Error") return { text: status, tone: "red" };
  return status === "Applied" ? { text: status, tone: "green" } : status;
}

function ageCell(time: string | undefined, nowMs: number): string {
  return time === undefined ? UNKNOWN : ageText(nowMs - Date.parse(time));
}
