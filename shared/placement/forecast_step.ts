/**
 * Forecasts the next step of placement for a workload, and when it is due, for the status: by `decideMove()` at
 * later times, and by the rules of shortages.
 *
 * @module
 */
import {
  decideMove,
  leavesAtOnce,
  leavesInTurn,
  type MoveDecision,
  type MoveDecisionInput,
} from "./decide_move.ts";
import { type Move, rankedMoves } from "./split.ts";
import { type NodeClass, otherClass } from "./node_classes.ts";
import type { PlacedPod } from "./placed_pod.ts";
import type { MoveSettings } from "./settings.ts";
import {
  fallbackDueMs,
  isLeftBehind,
  recreationDueMs,
  type ShortageInput,
  shortagePhase,
  type ShortageSettings,
  strandedPods,
  unplacedInFallback,
} from "./shortage.ts";

/** A published step. */
export interface StepForecast {
  /** For instance `evict pod web-1 (youngest surplus spot) to on-demand`. */
  readonly action: string;
  /** The pod that is evicted; absent if none is. */
  readonly pod?: string;
  /** The class that it moves to. */
  readonly to?: NodeClass;
  /** Not before, as ISO 8601; absent: at the next reconcile. */
  readonly notBefore?: string;
}

/** The present decision of `decideMove()`, and the settings that later ones depend on. */
export interface ForecastOptions {
  readonly decision: MoveDecision;
  readonly settings: MoveSettings;
}

/** Window, fallback, cooldown and rate follow each other once. */
const MOST_WAITS = 8;

/** The next step; undefined if there is nothing to do. A fallback that is due has begun before. */
export function forecastStep(
  input: MoveDecisionInput,
  options: ForecastOptions,
): StepForecast | undefined {
  return departureStep(input) ?? shortageStep(input, options.settings) ??
    moveStep(input, options);
}

function departureStep({ pods, spec }: MoveDecisionInput): StepForecast | undefined {
  if (spec.paused) return undefined;
  const pod = firstToGo(pods.filter(leavesAtOnce));
  return pod && { action: leavingText(pod) + budgetText(pod), pod: pod.name };
}

function leavingText({ name, departs }: PlacedPod): string {
  return `evict pod ${name} from a node that is about to go (${departs})`;
}

/** The first of several pods to evict: one that no budget keeps, if there is one. */
function firstToGo(pods: readonly PlacedPod[]): PlacedPod | undefined {
  const free = pods.filter(({ pinned }) => pinned === undefined);
  return free.find(({ budget }) => budget === undefined) ?? free[0];
}

function budgetText({ budget }: PlacedPod): string {
  return budget === undefined ? "" : `, once its budget lets it: ${budget}`;
}

/** The step for pods that find no spot node: a fallback, or an eviction in one. */
function shortageStep(
  input: ShortageInput,
  settings: ShortageSettings,
): StepForecast | undefined {
  const { shortage, nowMs } = input;
  const stranded = strandedPods(input.pods);
  if (shortage !== undefined && shortagePhase(shortage, nowMs) === "fallback") {
    const pod = firstToGo(stranded.filter((one) => isLeftBehind(one, { shortage, nowMs })));
    if (pod === undefined) return unplacedStep(input, settings);
    return {
      action: `evict pod ${pod.name} (it finds no spot node) to on-demand${budgetText(pod)}`,
      pod: pod.name,
      to: "on-demand",
    };
  }
  const dueMs = fallbackDueMs(input, settings);
  if (!Number.isFinite(dueMs)) return undefined;
  return {
    action: `new pods fall back to on-demand unless ${namesOf(stranded)} finds a spot node`,
    notBefore: timeText(dueMs),
  };
}

/**
 * The step for pods that were created for spot in a fallback: they are recreated in this fallback or the next. If
 * they were recreated for spot again, the webhook seems to place no pods.
 */
function unplacedStep(input: ShortageInput, settings: ShortageSettings): StepForecast | undefined {
  const unplaced = unplacedInFallback(input);
  if (unplaced.length === 0) return undefined;
  const dueMs = recreationDueMs(input, settings);
  const isDue = Number.isFinite(dueMs);
  const names = namesOf(unplaced);
  const doubt = input.shortage?.remade === undefined ? "" : ": is the webhook asked?";
  return {
    action: (isDue ? `make ${names} again unless it` : `fall back once more unless ${names}`) +
      ` finds a spot node, made for spot in this fallback${doubt}`,
    notBefore: timeText(isDue ? dueMs : fallbackDueMs(input, settings)),
  };
}

function namesOf(pods: readonly PlacedPod[]): string {
  const [first, ...others] = pods;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `pod ${first?.name ?? ""}${more}`;
}

function moveStep(
  input: MoveDecisionInput,
  { decision: now, settings }: ForecastOptions,
): StepForecast | undefined {
  let decision = now;
  let { nowMs } = input;
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    if ("move" in decision || decision.untilMs === undefined || decision.untilMs <= nowMs) break;
    nowMs = decision.untilMs;
    decision = decideMove({ ...input, nowMs }, settings);
  }
  const later = nowMs > input.nowMs ? { notBefore: timeText(nowMs) } : {};
  if ("move" in decision) {
    const { pod, to } = decision.move;
    if (leavesInTurn(pod)) return { action: leavingText(pod), pod: pod.name, ...later };
    const action = `evict pod ${pod.name} (${victimText(decision.move, input)}) to ${to}`;
    return { action, pod: pod.name, to, ...later };
  }
  // The phase shows what blocks it now.
  return decision.wait === "BlockedByPDB" && nowMs > input.nowMs
    ? { action: `wait until a budget lets one go (${decision.message})`, ...later }
    : undefined;
}

/** Why this pod moves and no other. */
function victimText({ pod, to }: Move, { pods, spec, workload }: MoveDecisionInput): string {
  const surplus = `surplus ${otherClass(to)}`;
  if (pod.cordoned) return `${surplus} on a cordoned node`;
  if (workload.kind === "StatefulSet") return "misplaced by its ordinal";
  const others = rankedMoves(pods, { ...workload, spec }).filter((one) => one.to === to);
  const isYoungest = others.every((one) => one.pod.createdAtMs <= pod.createdAtMs);
  return isYoungest ? `youngest ${surplus}` : `youngest ${surplus} that may go`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
