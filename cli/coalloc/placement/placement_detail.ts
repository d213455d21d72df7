/**
 * One workload with all that is known of its placement. Pure.
 *
 * @module
 */
import { paint, type TerminalStyle, textLines } from "../../terminal/terminal_text.ts";
import { counted, UNKNOWN } from "../../../shared/view/figures.ts";
import type { Cell } from "../../terminal/aligned_rows.ts";
import { textTable } from "../output.ts";
import type { ClassCounts } from "../../../shared/placement/node_classes.ts";
import {
  nextText,
  phaseText,
  phaseTone,
  type ShownWorkload,
  splitText,
} from "../../../shared/view/placed_workloads.ts";
import type { PodStatus, RevisionStatus } from "../../../shared/placement/status.ts";

/** Style of the text. */
export interface DetailStyle extends TerminalStyle {
  /** Wall time, ms: times of other days are shown with their day. */
  readonly nowMs: number;
}

const CLASSES = ["spot", "on-demand"] as const;

/** The text, each line ended by a line feed. */
export function placementDetail(workload: ShownWorkload, style: DetailStyle): string {
  const { pods } = workload;
  return textLines([
    ...headOf(workload, style),
    ...splitLines(workload, style),
    // Without a next step the reason says why.
    ...(workload.next === undefined ? [] : [`Next: ${nextText(workload, style.nowMs)}`]),
  ]) + (pods.length === 0 ? "" : `\n${podTable(pods, style)}`);
}

/** The meaning of the bars' characters, on a line; empty if there are no bars. */
export function barLegend(workloads: readonly ShownWorkload[], style: TerminalStyle): string {
  const drawn = workloads.some((one) => one.desired !== undefined && one.actual !== undefined);
  return drawn ? `${paint(BAR_LEGEND, "dim", style)}\n` : "";
}

function headOf(workload: ShownWorkload, style: DetailStyle): string[] {
  const { kind, namespace, name, phase, reason, means, message, remedy, replicas } = workload;
  const phrase = paint(phaseText(workload, style.nowMs), phaseTone(phase), style);
  const size = replicas === undefined ? "" : `, ${counted(replicas, "replica")}`;
  const details = message ?? "";
  return [
    `${paint(`${kind} ${namespace}/${name}`, "bold", style)}: ${phrase}${size}`,
    ...(reason === undefined || phase === "AsSpecified"
      ? reason === undefined && details !== "" ? [details] : []
      : [`${paint(reason, "yellow", style)}: ${means}${details === "" ? "" : ` (${details})`}`]),
    ...(remedy === undefined || remedy === "nothing" ? [] : [`What to do: ${remedy}`]),
    ...splitLine(workload),
  ];
}

function splitLine(workload: ShownWorkload): string[] {
  const { spec } = workload;
  if (spec === undefined) return [];
  const window = spec.window === undefined
    ? "moved at any time"
    : `moved from ${spec.window.schedule} on for ${spec.window.durationMs / 60_000} min`;
  return [`Spec: ${splitText(workload)}; ${window}${spec.paused ? "; paused" : ""}`];
}

/** The split of the workload, or of each revision if there are several. */
function splitLines(workload: ShownWorkload, style: TerminalStyle): string[] {
  const { revisions, desired, actual, pending } = workload;
  if (revisions.length <= 1) {
    return barLines({ desired, actual, pending }, style);
  }
  return revisions.flatMap((one: RevisionStatus) => [
    `  ${paint(`revision ${one.revision || UNKNOWN}`, "cyan", style)}`,
    ...barLines(one, style),
  ]);
}

interface Split {
  readonly desired?: ClassCounts | undefined;
  readonly actual?: ClassCounts | undefined;
  readonly pending?: ClassCounts | undefined;
}

function barLines({ desired, actual, pending }: Split, style: TerminalStyle): string[] {
  const largest = Math.max(
    ...CLASSES.flatMap((one) => [desired?.[one] ?? 0, actual?.[one] ?? 0]),
  );
  const compared = actual !== undefined && desired !== undefined;
  const width = compared ? Math.min(BAR_WIDTH, largest) : 0;
  return CLASSES.map((one) => {
    const figures = [actual?.[one] ?? UNKNOWN, ...(desired === undefined ? [] : [desired[one]])]
      .join(" of ");
    const waiting = pending?.[one] ?? 0;
    const more = waiting === 0 ? "" : paint(`, ${waiting} pending`, "yellow", style);
    const bar = compared ? splitBar({ actual: actual[one], desired: desired[one], largest }) : "";
    const tone = actual?.[one] === desired?.[one] ? "green" : "yellow";
    const gap = " ".repeat(Math.max(0, width - bar.length));
    const drawn = bar === "" && gap === "" ? "" : `${paint(bar, tone, style)}${gap}  `;
    return `  ${one.padEnd(11)}${drawn}${figures}${more}`;
  });
}

function podTable(pods: readonly PodStatus[], style: TerminalStyle): string {
  const several = new Set(pods.map(({ revision }) => revision)).size > 1;
  const columns = ["POD", "CLASS", "NODE", ...(several ? ["REVISION"] : []), "STATE"];
  const rows = pods.map((pod) => [
    pod.name,
    pod.class ?? UNKNOWN,
    pod.node || UNKNOWN,
    ...(several ? [pod.revision || UNKNOWN] : []),
    stateCell(pod),
  ]);
  return textTable({ columns: columns.map((head) => ({ head })), rows }, style);
}

function stateCell({ ready, notes }: PodStatus): Cell | string {
  if (notes.length === 0) return ready ? "Ready" : "not Ready";
  return { text: notes.join("; "), tone: "yellow" };
}

/** The meaning of a bar's characters. */
const BAR_LEGEND = "█ there as specified, ▒ too many, · missing";

/** Characters of the longest bar. */
const BAR_WIDTH = 30;

/**
 * Replicas as a bar: specified ones as `█`, surplus ones as `▒`, missing ones as `·`. 3 of 5 are `███··`, 5 of
 * 3 `███▒▒`. If `largest`, the number of the longest bar, does not fit, each character stands for several, and
 * each kind has at least one.
 */
export function splitBar(
  { actual, desired, largest }: {
    readonly actual: number;
    readonly desired: number;
    readonly largest: number;
  },
): string {
  const scale = Math.min(1, BAR_WIDTH / Math.max(1, largest));
  const drawn = (count: number, character: string): string =>
    character.repeat(count > 0 ? Math.max(1, Math.round(count * scale)) : 0);
  return drawn(Math.min(actual, desired), "█") + drawn(actual - desired, "▒") +
    drawn(desired - actual, "·");
}
