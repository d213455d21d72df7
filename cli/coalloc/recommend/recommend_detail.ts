/**
 * One workload with its recommendations, their reasons, and the change of each amount. Pure.
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

/** Style of the text. */
export interface DetailStyle extends TerminalStyle {
  /** Wall time, ms: ages are counted from it. */
  readonly nowMs: number;
}

const MAX_PLOT_WIDTH = 60;
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
  const details = message === undefined || message === means ? "" : ` (${message})`;
  return [
    `${paint(`${kind} ${namespace}/${name}`, "bold", style)}: ${status}, policy ` +
    `${policy.namespace}/${policy.name}${counted}${gone}`,
    ...(reason === undefined ? [] : [`${paint(reason, "yellow", style)}: ${means}${details}`]),
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
  const method = lastApplyMethod === undefined ? "" : METHODS[lastApplyMethod];
  return lastApplied === undefined
    ? `${recommended}, never applied`
    : `${recommended}, last applied ${ago(lastApplied)}${method}`;
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
  const { text, tone } = changeCell(container, resource);
  const change = tone === undefined ? text : paint(text, tone, style);
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

/** The figures, and on a terminal the plot. */
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
  const width = Math.max(10, Math.min(MAX_PLOT_WIDTH, style.columns - INDENT.length - 1));
  const request = recommended?.[resource];
  const plot = usagePlot(figures, {
    ...(request === undefined ? {} : { recommended: request }),
    width,
  });
  return [INDENT + paint(plot, "blue", style), line];
}

/**
 * The present value and the recommended one: `500m → 336m`, `200m..250m → 336m` where pods differ, and
 * `none → 336m` where nothing is set; `-` is not known, or not recommended. A limit without a recommendation
 * is shown alone. Without pods the present value is the template's.
 */
export function changeCell(container: AdvisedContainer, name: AmountName): Cell {
  const to = container.recommended?.[name];
  const present = presentText(container, name);
  if (to === undefined && isLimit(name)) return { text: present, tone: "dim" };
  const text = `${present} → ${to === undefined ? UNKNOWN : amountText(name, to)}`;
  const tone = to === undefined ? "dim" : directionOf(container, { name, to });
  return tone === undefined ? { text } : { text, tone };
}

/** The adopted value, `-` where there is none. */
export function inForceText({ inForce }: AdvisedContainer, name: AmountName): string {
  const amount = inForce?.[name];
  return amount === undefined ? UNKNOWN : amountText(name, amount);
}

function isLimit(name: AmountName): boolean {
  return name === "cpuLimit" || name === "memoryLimit";
}

/** Raises stand out, as they cost something; undefined where some pods get more and others less. */
function directionOf(
  container: AdvisedContainer,
  { name, to }: { readonly name: AmountName; readonly to: number },
): Paint | undefined {
  // Without a limit any amount is allowed.
  const unset = isLimit(name) ? Infinity : 0;
  const present = presentAmounts(container).map((one) => one[name] ?? unset);
  if (present.every((amount) => amount === to)) return "dim";
  if (present.every((amount) => amount <= to)) return "yellow";
  return present.every((amount) => amount >= to) ? "green" : undefined;
}

/** Bands of the samples, densest first: the upper end, and the character. */
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
const PLOT_LEGEND = "█ up to P50, ▓ to P90, ▒ to P95, ░ to P99, ─ to the largest sample; " +
  "│ the recommended request";

/**
 * A line of `width` characters from 0 to the larger of largest sample and recommended request. 10 wide:
 * samples from 20 to 80 with a P50 of 50, a P90 of 60 and a request of 100 are `··███▓───│`.
 */
export function usagePlot(
  usage: DistributionSummary,
  { recommended, width }: { readonly recommended?: number; readonly width: number },
): string {
  const top = Math.max(usage.max, recommended ?? 0);
  const cellOf = (value: number): number =>
    top > 0 ? Math.min(width - 1, Math.floor(value / top * width)) : 0;
  const request = recommended === undefined ? -1 : cellOf(recommended);
  // A cell belongs to the densest band that reaches its middle.
  return Array.from({ length: width }, (_, cell) => {
    if (cell === request) return REQUEST;
    if (cell < cellOf(usage.min) || cell > cellOf(usage.max)) return EMPTY;
    const middle = Math.min(usage.max, (cell + 0.5) / width * top);
    return BANDS.find(({ upTo }) => middle <= usage[upTo])?.mark ?? EMPTY;
  }).join("");
}
