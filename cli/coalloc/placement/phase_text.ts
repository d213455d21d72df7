/**
 * Phases and steps as people read them. Pure.
 *
 * @module
 */
import type { Paint } from "../../terminal/paint.ts";
import { UNKNOWN } from "../formats.ts";
import {
  type PhaseStatus,
  type PlacementPhase,
  timeOfDay,
} from "../../../shared/placement/status.ts";
import type { ShownWorkload } from "./placement_view.ts";

interface PhaseLook {
  readonly text: string;
  readonly how?: Paint;
  /** True if its particulars say why no step follows. */
  readonly particulars?: true;
}

const PHASES: Readonly<Record<PlacementPhase, PhaseLook>> = {
  AsWished: { text: "as specified", how: "green" },
  Converging: { text: "converging", how: "cyan" },
  Fallback: { text: "fallback", how: "yellow" },
  Returning: { text: "returning", how: "cyan" },
  Paused: { text: "paused", how: "yellow", particulars: true },
  OutsideWindow: { text: "outside the window", how: "yellow" },
  Cooldown: { text: "cooldown", how: "cyan" },
  BlockedByBudget: { text: "blocked by a budget", how: "yellow", particulars: true },
  Bound: { text: "none may move", how: "yellow", particulars: true },
  NotWhole: { text: "not whole", how: "yellow", particulars: true },
  Misconfigured: { text: "configuration error", how: "red", particulars: true },
  LeftAlone: { text: "takes no part", how: "dim", particulars: true },
  Unknown: { text: "not known", how: "yellow", particulars: true },
};

/** `fallback until 12:04:00Z`. */
export function phaseText({ phase, until }: PhaseStatus, nowMs: number): string {
  const { text } = PHASES[phase];
  return until === undefined ? text : `${text} until ${timeOfDay(until, nowMs)}`;
}

/** The text's colour; undefined: none. */
export function phasePaint(phase: PlacementPhase): Paint | undefined {
  return PHASES[phase].how;
}

/**
 * `evict pod web-1 (youngest surplus spot) to on-demand at the earliest 12:00:10Z`; if none follows,
 * why, or `-`.
 */
export function nextText(workload: ShownWorkload, nowMs: number): string {
  const { phase, message, next } = workload;
  if (next === undefined) {
    const particular = PHASES[phase].particulars ? message : undefined;
    return particular === undefined ? UNKNOWN : `none: ${particular}`;
  }
  const { action, notBefore } = next;
  if (notBefore === undefined) return action;
  const when = next.pod === undefined ? "at" : "at the earliest";
  return `${action} ${when} ${timeOfDay(notBefore, nowMs)}`;
}
