/**
 * Workloads with the placement that the controller has published, and their phase and next step as text.
 * Pure.
 *
 * @module
 */
import type { PlacementPhase } from "../api/reasons/placement_reasons.ts";
import { remedyFor, sentenceOf } from "../api/reasons/reasons.ts";
import { defined } from "../defined.ts";
import { isPlacedKind, type PlacedKind } from "../placement/eligibility.ts";
import {
  type PhaseStatus,
  type PlacementStatus,
  readStatus,
  timeOfDay,
} from "../placement/status.ts";
import { type Tone, UNKNOWN, workloadKey } from "./figures.ts";

/** A workload. */
export interface ShownWorkload extends PlacementStatus {
  readonly namespace: string;
  readonly kind: PlacedKind;
  readonly name: string;
  /** The meaning of the reason, and its remedy; absent if there is none. */
  readonly means?: string;
  readonly remedy?: string;
}

/** Published texts of each namespace, by `statusKey()`. */
export type PublishedStatuses = ReadonlyMap<string, Readonly<Record<string, string>>>;

/** The workloads by namespace, kind and name. */
export function shownWorkloads(published: PublishedStatuses): readonly ShownWorkload[] {
  return [...published].flatMap(([namespace, texts]) =>
    Object.entries(texts).flatMap(([key, text]) => shownWorkload(namespace, { key, text }))
  ).toSorted((a, b) => workloadKey(a) < workloadKey(b) ? -1 : 1);
}

function shownWorkload(
  namespace: string,
  { key, text }: { readonly key: string; readonly text: string },
): readonly ShownWorkload[] {
  const kind = key.split(".", 1)[0] ?? "";
  if (!isPlacedKind(kind)) return [];
  const { phase, until, reason, message, ...others } = readStatus(text);
  const name = key.slice(kind.length + 1);
  const means = reason && sentenceOf(reason);
  const remedy = reason && remedyFor(reason);
  const shown = { namespace, kind, name, phase, until, reason, means, remedy, message };
  return [{ ...defined(shown), ...others }];
}

/** The requested split: `70 %, at least 2`. */
export function splitText({ spec }: Pick<ShownWorkload, "spec">): string {
  if (spec === undefined) return UNKNOWN;
  const { spotPercentage, minOnDemand } = spec;
  return minOnDemand === 0
    ? `${spotPercentage} % spot`
    : `${spotPercentage} % spot, ${minOnDemand} on-demand at least`;
}

interface PhaseStyle {
  readonly text: string;
  readonly tone?: Tone;
  /** True if the message says why no step follows. */
  readonly particulars?: true;
}

const PHASE_STYLES: Readonly<Record<PlacementPhase, PhaseStyle>> = {
  AsSpecified: { text: "as specified", tone: "green" },
  Converging: { text: "converging", tone: "cyan" },
  Fallback: { text: "fallback", tone: "yellow" },
  Returning: { text: "returning", tone: "cyan" },
  Paused: { text: "paused", tone: "yellow", particulars: true },
  OutsideWindow: { text: "outside the window", tone: "yellow" },
  Cooldown: { text: "cooldown", tone: "cyan" },
  BlockedByBudget: { text: "blocked by a budget", tone: "yellow", particulars: true },
  Bound: { text: "none may move", tone: "yellow", particulars: true },
  NotWhole: { text: "not whole", tone: "yellow", particulars: true },
  Misconfigured: { text: "configuration error", tone: "red", particulars: true },
  LeftAlone: { text: "takes no part", tone: "dim", particulars: true },
  Unknown: { text: "not known", tone: "yellow", particulars: true },
};

/** `fallback until 12:04:00Z`. */
export function phaseText({ phase, until }: PhaseStatus, nowMs: number): string {
  const { text } = PHASE_STYLES[phase];
  return until === undefined ? text : `${text} until ${timeOfDay(until, nowMs)}`;
}

/** The text's colour; undefined: none. */
export function phaseTone(phase: PlacementPhase): Tone | undefined {
  return PHASE_STYLES[phase].tone;
}

/**
 * `evict pod web-1 (youngest surplus spot) to on-demand at the earliest 12:00:10Z`; if none follows,
 * why, or `-`.
 */
export function nextText(workload: ShownWorkload, nowMs: number): string {
  const { phase, message, next } = workload;
  if (next === undefined) {
    const why = PHASE_STYLES[phase].particulars ? message : undefined;
    return why === undefined ? UNKNOWN : `none: ${why}`;
  }
  const { action, notBefore } = next;
  if (notBefore === undefined) return action;
  const when = next.pod === undefined ? "at" : "at the earliest";
  return `${action} ${when} ${timeOfDay(notBefore, nowMs)}`;
}
