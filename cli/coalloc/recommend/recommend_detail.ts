/**
 * One workload with all that stands behind its recommendations, and what would change of each amount. Pure.
 *
 * @module
 */
import type { Cell } from "../../terminal/aligned_rows.ts";
import { type Paint, paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { ageText, UNKNOWN } from "../../../shared/view/figures.ts";
import type { AdvisedContainer, AdvisedWorkload } from "../../../shared/view/advice_view.ts";
import {
  type AmountName,
  amountText,
  presentAmounts,
  presentText,
} from "../../../shared/view/changes.ts";
import type { DistributionSummary } from "../../../shared/rightsizing/distribution.ts";

/** How it is shown. */
export interface DetailStyle extends TerminalStyle {
  /** Wall time, ms: ages are counted from it. */
  readonly nowMs: number;
}

/** Wider plots say no more. */
const WIDEST_PLOT = 60;
/** Before the lines of a container. */
const INDENT = " ".repeat(11);

/** The text, each line ended by a line feed. */
export function detailText(workload: AdvisedWorkload, style: DetailStyle): string {
  const blocks = workload.containers.map((container) => containerLines(container, style));
  return textLines([...headOf(workload, style), ...blocks.flat()]);
}

/** The legend of the plots' characters, on a line; empty where nothing is drawn. */
export function plotLegend(workloads: readonly AdvisedWorkload[], style: TerminalStyle): string {
  const drawn = style.columns !== undefined &&
    workloads.some(({ containers }) =>
      containers.some(({ usage = {} }) => usage.cpu !== undefined || usage.memory !== undefined)
    );
  return drawn ? `${paint(PLOT_LEGEND, "dim", style)}\n` : "";
}

function headOf(workload: AdvisedWorkload, style: DetailStyle): string[] {
  const { kind, namespace, name, status, policy, pods, exists } = workload;
  const { reason, means, message, remedy } = workload;
  const counted = pods === undefined ? "" : pods === 1 ? ", 1 pod" : `, ${pods} pods`;
  const gone = exists === false ? "; it no longer exists" : "";
  const own = message === undefined || message === means ? "" : ` (${message})`;
  return [
    `${paint(`${kind} ${namespace}/${name}`, "bold", style)}: ${status}, policy ` +
    `${policy.namespace}/${policy.name}${counted}${gone}`,
    ...(reason === undefined ? [] : [`${paint(reason, "yellow", style)}: ${means}${own}`]),
    ...(reason === undefined && message !== undefined ? [message] : []),
    ...(remedy === undefined ? [] : [`What to do: ${remedy}`]),
    timesLine(workload, style),
  ];
}

const METHODS = {
  InPlace: " in place",
  Recreate: " by recreation",
} as const;

function timesLine(
  { lastRecommendation, lastApplied, lastApplyMethod }: AdvisedWorkload,
  { nowMs }: DetailStyle,
): string {
  const ago = (time: string): string => `${ageText(nowMs - Date.parse(time))} ago`;
  const recommended = lastRecommendation === undefined
    ? "Never recommended"
    : `Recommended ${ago(lastRecommendation)}`;
  const how = lastApplyMethod === undefined ? "" : METHODS[lastApplyMethod];
  return lastApplied === undefined
    ? `${recommended}, never applied`
    : `${recommended}, last applied ${ago(lastApplied)}${how}`;
}

const RESOURCES = [
  { resource: "cpu", limit: "cpuLimit", title: "CPU" },
  { resource: "memory", limit: "memoryLimit", title: "Memory" },
] as const;

type Resource = typeof RESOURCES[number];

function containerLines(container: AdvisedContainer, style: DetailStyle): string[] {
  const sidecar = container.sidecar ? " (sidecar)" : "";
  return [
    `  ${paint(container.name, "cyan", style)}${sidecar}`,
    ...RESOURCES.flatMap((one) => resourceLines(container, { one, style })),
    ...(container.explanation === undefined
      ? []
      : [`    ${"why".padEnd(7)}${container.explanation}`]),
  ];
}

function resourceLines(
  container: AdvisedContainer,
  { one: { resource, limit, title }, style }: {
    readonly one: Resource;
    readonly style: DetailStyle;
  },
): string[] {
  const { text, how } = changeCell(container, resource);
  const change = how === undefined ? text : paint(text, how, style);
  const limits = changeCell(container, limit).text;
  const adopted = [
    inForceText(container, resource),
    ...(container.inForce?.[limit] === undefined ? [] : [`limit ${inForceText(container, limit)}`]),
  ].join(", ");
  const parts = [
    `request ${change}`,
    // A value that is neither set nor recommended is not shown.
    ...(/^(none|-)$/.test(limits) ? [] : [`limit ${limits}`]),
    ...(adopted === UNKNOWN ? [] : [`in force ${adopted}`]),
  ];
  return [
    `    ${title.padEnd(7)}${parts.join("; ")}`,
    ...usageLines(container, { resource, style }),
  ];
}

/** In a terminal the plot, and the figures everywhere. */
function usageLines(
  { usage, recommended }: AdvisedContainer,
  { resource, style }: { readonly resource: Resource["resource"]; readonly style: DetailStyle },
): string[] {
  const figures = usage?.[resource];
  if (figures === undefined) return [];
  const { samples, min, p50, p90, p95, p99, max } = figures;
  const quantiles = Object.entries({ min, P50: p50, P90: p90, P95: p95, P99: p99, max })
    .map(([name, amount]) => `${name} ${amountText(resource, amount)}`);
  const line = `${INDENT}used ${quantiles.join(", ")} in ${samples} samples`;
  if (style.columns === undefined) return [line];
  const width = Math.max(10, Math.min(WIDEST_PLOT, style.columns - INDENT.length - 1));
  const request = recommended?.[resource];
  const plot = usagePlot(figures, {
    ...(request === undefined ? {} : { recommended: request }),
    width,
  });
  return [INDENT + paint(plot, "blue", style), line];
}

/**
 * The present value and the recommended one: `500m → 336m`, `200m..250m → 336m` where pods differ, and
 * `none → 336m` where nothing is set; `-` is not known, or not recommended. A limit that is left alone
 * stands for itself. The template stands for pods where there are none.
 */
export function changeCell(container: AdvisedContainer, name: AmountName): Cell {
  const to = container.recommended?.[name];
  const present = presentText(container, name);
  if (to === undefined && isLimit(name)) return { text: present, how: "dim" };
  const text = `${present} → ${to === undefined ? UNKNOWN : amountText(name, to)}`;
  const how = to === undefined ? "dim" : directionOf(container, { name, to });
  return how === undefined ? { text } : { text, how };
}

/** The adopted value, `-` where there is none. */
export function inForceText({ inForce }: AdvisedContainer, name: AmountName): string {
  const amount = inForce?.[name];
  return amount === undefined ? UNKNOWN : amountText(name, amount);
}

function isLimit(name: AmountName): boolean {
  return name === "cpuLimit" || name === "memoryLimit";
}

/** Raises cost something, so they stand out; undefined where some pods get more and others less. */
function directionOf(
  container: AdvisedContainer,
  { name, to }: { readonly name: AmountName; readonly to: number },
): Paint | undefined {
  // A limit that is not set is above any.
  const bare = isLimit(name) ? Infinity : 0;
  const present = presentAmounts(container).map((one) => one[name] ?? bare);
  if (present.every((amount) => amount === to)) return "dim";
  if (present.every((amount) => amount <= to)) return "yellow";
  return present.every((amount) => amount >= to) ? "green" : undefined;
}

/** Parts of the samples, densest first: up to which figure, and the character for it. */
const BANDS = [
  { upTo: "p50", mark: "█" },
  { upTo: "p90", mark: "▓" },
  { upTo: "p95", mark: "▒" },
  { upTo: "p99", mark: "░" },
  { upTo: "max", mark: "─" },
] as const satisfies readonly { upTo: keyof DistributionSummary; mark: string }[];

const EMPTY = "·";
const REQUEST = "│";

/** The meaning of each character. */
export const PLOT_LEGEND: string =
  "█ up to P50, ▓ to P90, ▒ to P95, ░ to P99, ─ to the largest sample; " +
  "│ the recommended request";

/** How it is drawn. */
export interface UsagePlotOptions {
  /** Stands in the plot as a mark of its own; without it there is none. */
  readonly recommended?: number;
  /** Characters of the line. */
  readonly width: number;
}

/**
 * A line of `width` characters from 0 to the larger of largest sample and recommended request. 10 wide:
 * samples from 20 to 80 with a P50 of 50, a P90 of 60 and a request of 100 are `··███▓───│`.
 */
export function usagePlot(
  usage: DistributionSummary,
  { recommended, width }: UsagePlotOptions,
): string {
  const top = Math.max(usage.max, recommended ?? 0);
  // If all is zero, it stands in the first cell.
  const cellOf = (value: number): number =>
    top > 0 ? Math.min(width - 1, Math.floor(value / top * width)) : 0;
  const request = recommended === undefined ? -1 : cellOf(recommended);
  // A cell belongs to the densest band that reaches its middle; where samples are, something shows.
  return Array.from({ length: width }, (_, cell) => {
    if (cell === request) return REQUEST;
    if (cell < cellOf(usage.min) || cell > cellOf(usage.max)) return EMPTY;
    const middle = Math.min(usage.max, (cell + 0.5) / width * top);
    return BANDS.find(({ upTo }) => middle <= usage[upTo])?.mark ?? EMPTY;
  }).join("");
}
