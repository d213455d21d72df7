/**
 * Placement as a table, a row for each revision of a workload. Pure.
 *
 * @module
 */
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { UNKNOWN, workloadTitle } from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import { fittedTable, type RowColumn, type RowTable } from "../output.ts";
import type { NodeClass } from "../../../shared/placement/node_classes.ts";
import { concernsPlacement, type RevisionStatus } from "../../../shared/placement/status.ts";
import type { PlacementView } from "./placement_view.ts";
import {
  nextText,
  phaseText,
  phaseTone,
  type ShownWorkload,
  splitText,
} from "../../../shared/view/placed_workloads.ts";

/** Style of the table. */
export interface PlacementStyle extends TerminalStyle {
  /** Also workloads that take no part, and more columns. @default {false} */
  readonly wide?: boolean;
  /** Whether to show namespaces. @default {true} */
  readonly namespaces?: boolean;
  /** Wall time, ms: times of other days are shown with their day. */
  readonly nowMs: number;
}

/** A row. */
export interface PlacementRow {
  readonly workload: ShownWorkload;
  /** Absent if there is none. */
  readonly revision?: RevisionStatus;
  /** True for the row with the columns of the whole workload. */
  readonly first: boolean;
  readonly nowMs: number;
}

const NAMESPACE = "NAMESPACE";
const REVISION = "REVISION";
const SPEC = "SPEC";
/** Characters: enough for `evict pod web-5d9c7f6b8-x1x2y`. */
const MIN_NEXT_WIDTH = 30;

const COLUMNS: readonly RowColumn<PlacementRow>[] = [
  { head: NAMESPACE, cell: ({ workload, first }) => first ? workload.namespace : "" },
  { head: "WORKLOAD", cell: ({ workload, first }) => first ? workloadTitle(workload) : "" },
  { head: REVISION, cell: ({ revision }) => revision?.revision || UNKNOWN, dropPriority: 2 },
  { head: SPEC, cell: ({ workload, first }) => first ? splitText(workload) : "", dropPriority: 2 },
  { head: "SPOT", align: "right", cell: (row) => splitCell(row, "spot") },
  { head: "ON-DEMAND", align: "right", cell: (row) => splitCell(row, "on-demand") },
  { head: "PENDING", align: "right", cell: pendingCell },
  { head: "PHASE", cell: phaseCell },
  {
    head: "NEXT",
    cell: ({ workload, first, nowMs }) => first ? nextText(workload, nowMs) : "",
    dropPriority: 1,
    minWidth: MIN_NEXT_WIDTH,
  },
];

/** All rows, with the columns of the workload in each. */
export function placementRows({ workloads }: PlacementView, nowMs: number): RowTable<PlacementRow> {
  const rows = workloads.flatMap((one) => rowsOf(one, nowMs));
  return { rows: rows.map((row) => ({ ...row, first: true })), columns: COLUMNS };
}

/** The table and the notes, each line ended by a line feed. */
export function placementTable(view: PlacementView, style: PlacementStyle): string {
  const { wide = false, namespaces = true, nowMs } = style;
  const shown = view.workloads.filter((one) => wide || concernsPlacement(one));
  const hidden = view.workloads.length - shown.length;
  const notes = [
    ...(hidden === 0 ? [] : [
      `${hidden} ${hidden === 1 ? "workload takes" : "workloads take"} no part; -o wide shows ${
        hidden === 1 ? "it" : "them"
      }`,
    ]),
    ...view.notes,
  ];
  const foot = textLines(notes.map((note) => paint(note, "yellow", style)));
  if (shown.length === 0) return withNotes("No workloads are placed here.\n", foot);
  const rows = shown.flatMap((workload) => rowsOf(workload, nowMs));
  const several = shown.some(({ revisions }) => revisions.length > 1);
  const columns = COLUMNS.filter(({ head }) => {
    if (head === NAMESPACE) return namespaces;
    if (head === SPEC) return wide;
    return head === REVISION ? wide || several : true;
  });
  return withNotes(
    fittedTable({ rows, columns }, wide ? { ...style, columns: Infinity } : style),
    foot,
  );
}

function withNotes(body: string, foot: string): string {
  return foot === "" ? body : `${body}\n${foot}`;
}

function rowsOf(workload: ShownWorkload, nowMs: number): readonly PlacementRow[] {
  const { revisions } = workload;
  if (revisions.length === 0) return [{ workload, first: true, nowMs }];
  return revisions.map((revision, index) => ({ workload, revision, first: index === 0, nowMs }));
}

/** `3/5`: three of five. Each of several revisions has its own split, a single one the workload's. */
function splitCell({ workload, revision }: PlacementRow, one: NodeClass): Cell {
  const { desired, actual } = workload.revisions.length > 1 && revision !== undefined
    ? revision
    : workload;
  const text = [actual?.[one] ?? UNKNOWN, ...(desired === undefined ? [] : [desired[one]])]
    .join("/");
  const differs = actual !== undefined && desired !== undefined && actual[one] !== desired[one];
  return { text, tone: differs ? "yellow" : undefined };
}

function pendingCell({ workload, revision }: PlacementRow): Cell {
  const pending = revision?.pending ?? workload.pending;
  if (pending === undefined) return { text: UNKNOWN };
  const count = pending.spot + pending["on-demand"];
  return { text: String(count), tone: count === 0 ? undefined : "yellow" };
}

function phaseCell({ workload, first, nowMs }: PlacementRow): Cell {
  return first
    ? { text: phaseText(workload, nowMs), tone: phaseTone(workload.phase) }
    : { text: "" };
}
