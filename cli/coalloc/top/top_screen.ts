/**
 * `top` as text. Pure.
 *
 * @module
 */
import {
  type Paint,
  paint,
  type TerminalStyle,
  textLines,
  wrappedLines,
} from "../../terminal/terminal_text.ts";
import {
  ageText,
  coresText,
  counted,
  cpuText,
  MODE_TONES,
  priceText,
  throttledText,
  throttledTone,
  UNKNOWN,
} from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import { fittedTable, type RowColumn, type RowTable } from "../output.ts";
import type { TopNode, TopPod, TopView } from "../../../shared/view/top_view.ts";

/** Style of the screen. */
export interface TopStyle extends TerminalStyle {
  /** More columns. @default {false} */
  readonly wide?: boolean;
  /** Whether to show namespaces. @default {true} */
  readonly namespaces?: boolean;
  /** Lines of the screen; pods beyond them are only counted. @default unlimited */
  readonly rows?: number;
  /** True when the user has named pods: the notes name the missing ones. @default {false} */
  readonly named?: boolean;
}

const NODE_BAR = 20;

/** Columns that only some tables have. */
const BAR = "DEMAND/LIMIT";
const AGE = "AGE";
const NAMESPACE = "NAMESPACE";

const number = (head: string, cell: RowColumn<TopPod>["cell"]): RowColumn<TopPod> => ({
  head,
  align: "right",
  cell,
});

const COLUMNS: readonly RowColumn<TopPod>[] = [
  { head: NAMESPACE, cell: ({ namespace }) => namespace, dropPriority: 2 },
  { head: "POD", cell: ({ pod }) => pod },
  number("USAGE", ({ usage }) => cpuText(usage)),
  number("DEMAND", ({ demand }) => cpuText(demand)),
  number("LIMIT", limitCell),
  { head: BAR, cell: barCell, dropPriority: 3, drawn: true },
  number("THROTTLED", throttledCell),
  { ...number("PRICE", ({ price }) => priceText(price)), dropPriority: 4 },
  { head: "REASON", cell: reasonCell },
  { head: "NODE", cell: ({ node }) => node, wide: true },
  { ...number("ORIGINAL", ({ originalLimit }) => cpuText(originalLimit)), wide: true },
  { ...number("FLOOR", ({ floor }) => cpuText(floor)), wide: true },
  { ...number("CEILING", ({ ceiling }) => cpuText(ceiling)), wide: true },
  number(AGE, ({ ageMs }) => ({ text: ageText(ageMs), tone: "dim" })),
];

/** All columns of the pods. */
export function topTable({ pods }: TopView): RowTable<TopPod> {
  return { rows: pods, columns: COLUMNS };
}

/** The screen, each line ended by a line feed. */
export function topScreen({ pods, nodes, notes }: TopView, style: TopStyle = {}): string {
  const { rows = Infinity, columns = Infinity, named = false } = style;
  const footer = [
    ...nodes.map((node) => nodeLine(node, { nodes, style })),
    ...notes.map((note) => paint(note, "yellow", style)),
  ];
  const height = footer.reduce((sum, line) => sum + wrappedLines(line, columns), 0);
  // Four lines: the table's head, the count of further pods, space before the footer, the cursor.
  const room = Math.max(1, rows - height - 4);
  const shown = pods.length > room ? pods.slice(0, room) : pods;
  const more = pods.length - shown.length;
  // There may be pods that the user has not named.
  const none = named ? "" : "No pods in the market here.\n";
  const body = [
    pods.length === 0 ? none : fittedTable({ rows: shown, columns: columnsOf(pods, style) }, style),
    ...(more === 0 ? [] : [paint(`… and ${more} more`, "dim", style) + "\n"]),
  ].join("");
  const foot = textLines(footer);
  return body === "" || foot === "" ? body + foot : `${body}\n${foot}`;
}

function columnsOf(
  pods: readonly TopPod[],
  { wide = false, namespaces = true }: TopStyle,
): readonly RowColumn<TopPod>[] {
  // Agents' views are less than a second old; only allocations need an age.
  const aged = wide || pods.some(({ source }) => source === "allocation");
  const live = pods.some(({ source }) => source === "agent");
  return COLUMNS.filter(({ head, wide: wideOnly }) => {
    if (head === AGE) return aged;
    if (head === NAMESPACE) return namespaces;
    return head === BAR ? live : wide || !wideOnly;
  });
}

/** `450m`, or `200m→450m` until the kubelet has applied the limit. */
function limitCell({ limit, enforced }: TopPod): Cell {
  const text = cpuText(limit);
  // The kubelet's quotas move in steps of 10 m: less is the same limit.
  if (limit === undefined || enforced === undefined || Math.abs(limit - enforced) < 10) {
    return { text };
  }
  return { text: `${cpuText(enforced)}→${text}`, tone: "cyan" };
}

function barCell({ usage, demand, limit, source }: TopPod): Cell {
  if (limit === undefined || demand === undefined || source === "allocation") return { text: "" };
  const tone: Paint = demand > limit ? "yellow" : "green";
  return { text: demandBar({ usage: usage ?? 0, demand, limit }), tone };
}

function throttledCell({ throttledMsPerSecond }: TopPod): Cell {
  const unit = throttledMsPerSecond === undefined ? "" : " ms/s";
  return {
    text: throttledText(throttledMsPerSecond) + unit,
    tone: throttledTone(throttledMsPerSecond),
  };
}

function reasonCell({ reason, source }: TopPod): Cell {
  const text = reason ?? UNKNOWN;
  return { text, tone: source === "allocation" ? "dim" : undefined };
}

function nodeLine(
  node: TopNode,
  { nodes, style }: { readonly nodes: readonly TopNode[]; readonly style: TerminalStyle },
): string {
  const { mode, state, held, price, capacity, committed, unmanaged, ageMs, pods } = node;
  const nameWidth = Math.max(...nodes.map((one) => one.node.length));
  const filled = capacity > 0
    ? Math.max(0, Math.min(NODE_BAR, Math.round(committed / capacity * NODE_BAR)))
    : NODE_BAR;
  const tone = MODE_TONES[mode];
  const bar = paint("█".repeat(filled), tone, style) + "░".repeat(NODE_BAR - filled);
  const parts = [
    `${coresText(committed)} of ${coresText(capacity)} cores committed`,
    `${coresText(unmanaged)} unmanaged`,
    counted(pods, "pod"),
    paint(mode, tone, style),
    `CPU ${state}`,
    ...(held === undefined ? [] : [paint(`limits held: ${held}`, "red", style)]),
    `price ${priceText(price)}`,
    paint(`${ageText(ageMs)} ago`, "dim", style),
  ];
  return `${paint(node.node.padEnd(nameWidth), "bold", style)}  ${bar}  ${parts.join(" · ")}`;
}

/** Characters of a bar. */
export const BAR_WIDTH = 12;

/**
 * Used CPU as `█`, demand beyond it as `▒`, idle room below the limit as `·`, and the limit as `│`. The
 * scale is the larger of demand and limit: 200 m used under a limit of 200 m with a demand of 400 m is
 * `█████│▒▒▒▒▒▒`. Empty when nothing is above zero.
 */
export function demandBar(
  { usage, demand, limit }: {
    readonly usage: number;
    readonly demand: number;
    readonly limit: number;
  },
): string {
  const top = Math.max(demand, limit);
  if (!(top > 0)) return "";
  const place = (value: number): number =>
    Math.max(0, Math.min(BAR_WIDTH, Math.round(value / top * BAR_WIDTH)));
  const [used, wanted, at] = [place(usage), place(demand), Math.max(1, place(limit)) - 1];
  return Array.from({ length: BAR_WIDTH }, (_, index) => {
    if (index === at) return "│";
    if (index < used) return "█";
    if (index < wanted) return "▒";
    return index < at ? "·" : " ";
  }).join("").trimEnd();
}
