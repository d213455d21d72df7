/**
 * What the controller does next for a workload that takes part. It decides by the same functions; here
 * they are asked about later times, too. Pure.
 *
 * @module
 */
import {
  leavesAtOnce,
  leavesInTurn,
  type NextMove,
  nextMove,
  type NextMoveInput,
} from "../../../shared/placement/next_move.ts";
import { misplaced, type Move } from "../../../shared/placement/split.ts";
import { otherClass } from "../../../shared/placement/node_classes.ts";
import type { PlacedPod } from "../../../shared/placement/placed_pod.ts";
import {
  fallbackDueMs,
  isLeftBehind,
  nextShortage,
  remakeDueMs,
  type ShortageOptions,
  shortagePhase,
  strandedPods,
  unplacedInFallback,
} from "../../../shared/placement/shortage.ts";
import type { PlacementRules } from "./placement_rules.ts";
import type { NextStep } from "./placement_view.ts";

/** What the controller would do with these facts. */
export interface Foreseen {
  /** Its answer now. */
  readonly now: NextMove;
  readonly step?: NextStep;
}

/** How patient the controller is. */
export type FollowedRules = Pick<PlacementRules, "cooldownMs" | "shortage">;

/** Window, fallback, cooldown and rate follow each other once; more would be a fault of ours. */
const MOST_WAITS = 8;

/** The answer now, and the step that follows; the step is absent where there is nothing to do. */
export function foresee(facts: NextMoveInput, rules: FollowedRules): Foreseen {
  const now = nextMove(facts, rules);
  const step = departureStep(facts) ?? shortageStep(facts, { now, options: rules.shortage }) ??
    moveStep(facts, { now, rules });
  return { now, ...(step === undefined ? {} : { step }) };
}

function departureStep({ pods, spec }: NextMoveInput): NextStep | undefined {
  if (spec.paused) return undefined;
  const pod = firstToGo(pods.filter(leavesAtOnce));
  return pod && { words: leavingText(pod) + budgetText(pod), pod: pod.name };
}

/** When the sign was first seen is known to the controller alone. */
function leavingText({ name, departs }: PlacedPod): string {
  return `evict pod ${name} from a node that is about to go (${departs}), if it was made before that`;
}

/** Of several that all are evicted: one that no budget keeps. */
function firstToGo(pods: readonly PlacedPod[]): PlacedPod | undefined {
  const free = pods.filter(({ pinned }) => pinned === undefined);
  return free.find(({ budget }) => budget === undefined) ?? free[0];
}

function budgetText({ budget }: PlacedPod): string {
  return budget === undefined ? "" : `, once its budget lets it: ${budget}`;
}

/** Pods that find no spot node: evicted in a fallback, and otherwise the beginning of one. */
function shortageStep(
  { pods, shortage, nowMs }: NextMoveInput,
  { now, options }: { readonly now: NextMove; readonly options: ShortageOptions },
): NextStep | undefined {
  const stranded = strandedPods(pods);
  if (shortage !== undefined && shortagePhase(shortage, nowMs) === "fallback") {
    const pod = firstToGo(stranded.filter((one) => isLeftBehind(one, { shortage, nowMs })));
    if (pod === undefined) return unplacedStep({ pods, shortage, nowMs }, options);
    return {
      words: `evict pod ${pod.name} (it finds no spot node) to on-demand${budgetText(pod)}`,
      pod: pod.name,
      to: "on-demand",
    };
  }
  const asSpecified = "wait" in now && now.wait === "AsWished";
  const after = nextShortage(shortage, { pods, asSpecified, nowMs }, options);
  const words = "new pods fall back to on-demand";
  if (after !== undefined && after.rounds !== shortage?.rounds) {
    return { words: `${words}: ${namesOf(stranded)} found no spot node` };
  }
  const dueMs = fallbackDueMs(shortage, pods, options);
  if (!Number.isFinite(dueMs)) return undefined;
  return {
    words: `${words} unless ${namesOf(stranded)} finds a spot node`,
    notBefore: timeText(dueMs),
  };
}

/**
 * They are recreated, in this fallback or by the next. Recreated for spot again, they show that no
 * webhook places pods.
 */
function unplacedStep(
  { pods, shortage, nowMs }: Pick<NextMoveInput, "pods" | "shortage" | "nowMs">,
  options: ShortageOptions,
): NextStep | undefined {
  const unplaced = unplacedInFallback(pods, { shortage, nowMs });
  if (unplaced.length === 0) return undefined;
  const dueMs = remakeDueMs(pods, { shortage, nowMs }, options);
  const isDue = Number.isFinite(dueMs);
  const names = namesOf(unplaced);
  const doubt = shortage?.remade === undefined ? "" : ": is the webhook asked?";
  return {
    words: (isDue ? `make ${names} again unless it` : `fall back once more unless ${names}`) +
      ` finds a spot node, made for spot in this fallback${doubt}`,
    notBefore: timeText(isDue ? dueMs : fallbackDueMs(shortage, pods, options)),
  };
}

function namesOf(pods: readonly PlacedPod[]): string {
  const [first, ...others] = pods;
  const more = others.length === 0 ? "" : ` and ${others.length} more`;
  return `pod ${first?.name ?? ""}${more}`;
}

function moveStep(
  facts: NextMoveInput,
  { now, rules }: { readonly now: NextMove; readonly rules: FollowedRules },
): NextStep | undefined {
  let next = now;
  let { nowMs } = facts;
  for (let waits = 0; waits < MOST_WAITS; waits++) {
    if ("move" in next || next.untilMs === undefined || next.untilMs <= nowMs) break;
    nowMs = next.untilMs;
    next = nextMove({ ...facts, nowMs }, rules);
  }
  const later = nowMs > facts.nowMs ? { notBefore: timeText(nowMs) } : {};
  if ("move" in next) {
    const { pod, to } = next.move;
    if (leavesInTurn(pod)) return { words: leavingText(pod), pod: pod.name, ...later };
    const words = `evict pod ${pod.name} (${victimText(next.move, facts)}) to ${to}`;
    return { words, pod: pod.name, to, ...later };
  }
  // The phase shows what blocks it now.
  return next.wait === "BlockedByPDB" && nowMs > facts.nowMs
    ? { words: `wait until a budget lets one go (${next.message})`, ...later }
    : undefined;
}

/** Why it is this pod that goes. */
function victimText({ pod, to }: Move, { pods, spec, workload }: NextMoveInput): string {
  const surplus = `surplus ${otherClass(to)}`;
  if (pod.cordoned) return `${surplus} on a cordoned node`;
  if (workload.kind === "StatefulSet") return "misplaced by its ordinal";
  const others = misplaced(pods, { ...workload, spec }).filter((one) => one.to === to);
  const isYoungest = others.every((one) => one.pod.createdAtMs <= pod.createdAtMs);
  return isYoungest ? `youngest ${surplus}` : `youngest ${surplus} that may go`;
}

function timeText(ms: number): string {
  return new Date(ms).toISOString();
}
