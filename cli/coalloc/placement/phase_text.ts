/**
 * Phases and steps as people read them. Pure.
 *
 * @module
 */
import type { Paint } from "../../terminal/paint.ts";
import { UNKNOWN } from "../formats.ts";
import { momentText } from "./moment_text.ts";
import type { PhaseFacts, PlacementPhase, ShownWorkload } from "./placement_view.ts";

interface PhaseLook {
  readonly words: string;
  readonly how?: Paint;
  /** True where its particulars say why no step follows. */
  readonly particulars?: true;
}

const PHASES: Readonly<Record<PlacementPhase, PhaseLook>> = {
  AsWished: { words: "as wished", how: "green" },
  Converging: { words: "converging", how: "cyan" },
  Fallback: { words: "fallback", how: "yellow" },
  Returning: { words: "returning", how: "cyan" },
  Paused: { words: "paused", how: "yellow", particulars: true },
  OutsideWindow: { words: "outside the window", how: "yellow" },
  Cooldown: { words: "cooldown", how: "cyan" },
  BlockedByBudget: { words: "blocked by a budget", how: "yellow", particulars: true },
  Bound: { words: "none may move", how: "yellow", particulars: true },
  NotWhole: { words: "not whole", how: "yellow", particulars: true },
  Misconfigured: { words: "configuration error", how: "red", particulars: true },
  LeftAlone: { words: "takes no part", how: "dim", particulars: true },
  Unknown: { words: "not known", how: "yellow", particulars: true },
};

/** `fallback until 12:04:00Z`. */
export function phaseText({ phase, until }: PhaseFacts, nowMs: number): string {
  const { words } = PHASES[phase];
  return until === undefined ? words : `${words} until ${momentText(until, nowMs)}`;
}

/** The text's colour; undefined: none. */
export function phasePaint(phase: PlacementPhase): Paint | undefined {
  return PHASES[phase].how;
}

/**
 * `evict pod web-1 (youngest surplus spot) to on-demand at the earliest 12:00:10Z`; where none follows
 * why, or `-`.
 */
export function nextText(workload: ShownWorkload, nowMs: number): string {
  const { phase, message, next } = workload;
  if (next === undefined) {
    const particular = PHASES[phase].particulars ? message : undefined;
    return particular === undefined ? UNKNOWN : `none: ${particular}`;
  }
  const { words, notBefore } = next;
  if (notBefore === undefined) return words;
  const when = next.pod === undefined ? "at" : "at the earliest";
  return `${words} ${when} ${momentText(notBefore, nowMs)}`;
}
