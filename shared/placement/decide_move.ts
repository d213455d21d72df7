/**
 * Decides which replica to evict now so that it moves, or why none moves. `forecast_step.ts` forecasts later
 * moves for the status.
 *
 * @module
 */
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import type { ReplicaCounts } from "../api/workload.ts";
import { isWindowOpen, parseCronSchedule } from "./disruption_window.ts";
import { cooldownAfter, ineffectiveMoveCount, type IneffectiveMoves } from "./move_cooldown.ts";
import { countByClass, type PlacedPod, secondOf } from "./placed_pod.ts";
import type { PlacedKind, PlacementSpec } from "./eligibility.ts";
import type { MoveSettings } from "./settings.ts";
import { type Shortage, shortagePhase } from "./shortage.ts";
import { floorOf, misplacedCount, type Move, rankedMoves } from "./split.ts";

/** Replicas by the workload's spec and status. */
export interface ReplicaStatus extends ReplicaCounts {
  readonly kind: PlacedKind;
}

/** The input of the decision. */
export interface MoveDecisionInput {
  readonly workload: ReplicaStatus;
  readonly spec: PlacementSpec;
  /** Pods that the workload owns, of all revisions, including those that are gone. */
  readonly pods: readonly PlacedPod[];
  readonly shortage?: Shortage | undefined;
  /** When a replica was last moved, ms since 1970; absent: never. */
  readonly lastMoveAtMs?: number | undefined;
  /** The effect of the last move; absent: unknown. */
  readonly ineffectiveMoves?: IneffectiveMoves | undefined;
  /** When the cluster's rate allows the next eviction, ms since 1970. */
  readonly evictionFromMs: number;
  readonly nowMs: number;
}

/** The replica to move now, or why none moves. */
export type MoveDecision = { readonly move: Move } | MoveWait;

/** Why no replica moves now. */
export interface MoveWait {
  readonly wait: PlacementReason;
  readonly message: string;
  /** When to check again, ms since 1970; absent if only a change helps. */
  readonly untilMs?: number;
}

interface RuleInput extends MoveDecisionInput {
  readonly settings: MoveSettings;
  /** The moves that the rules before allow, the best first. */
  readonly moves: readonly Move[];
}

/**
 * Returns the moves that it allows, at least one, or why it allows none. It gets at least one after
 * `somethingIsMisplaced`.
 */
type MoveRule = (input: RuleInput) => readonly Move[] | MoveWait;

const allReplicasAreReady: MoveRule = ({ moves, workload, pods }) => {
  const { replicas, observed, present, ready, updated } = workload;
  // A pod on a node that is drained runs until it leaves.
  const live = pods.filter((one) => !one.gone || leavesInTurn(one));
  const liveReady = live.filter((one) => one.ready).length;
  // Pods and status come from different caches: neither may be the older one.
  if (observed && [present, ready, updated, live.length, liveReady].every((n) => n === replicas)) {
    return moves;
  }
  return {
    wait: "NotWhole",
    message: `of ${replicas} replicas ${present} are there, ${ready} Ready, ${updated} updated; ` +
      `of ${live.length} pods ${liveReady} are Ready`,
  };
};

const somethingIsMisplaced: MoveRule = ({ moves }) =>
  moves.length > 0 ? moves : { wait: "AsSpecified", message: "each replica is where it should be" };

const isNotPaused: MoveRule = ({ moves, spec }) =>
  spec.paused ? { wait: "PlacementPaused", message: "spotalis.io/paused is set" } : moves;

/** In a fallback pods move to on-demand only. */
const spotIsNotShort: MoveRule = ({ moves, shortage, nowMs }) => {
  if (shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback") return moves;
  const toOnDemand = moves.filter(({ to }) => to === "on-demand");
  return toOnDemand.length > 0
    ? toOnDemand
    : { wait: "SpotFallback", message: "spot nodes are short", untilMs: shortage.untilMs };
};

const windowIsOpen: MoveRule = ({ moves, spec: { window }, nowMs }) => {
  if (window === undefined || isWindowOpen(window, nowMs)) return moves;
  const untilMs = parseCronSchedule(window.schedule).next(nowMs);
  return {
    wait: "WindowClosed",
    message: `${window.schedule} opens it`,
    ...(untilMs === undefined ? {} : { untilMs }),
  };
};

const cooldownIsOver: MoveRule = (input) => {
  const { moves, settings, workload, spec, pods, lastMoveAtMs = -Infinity, nowMs } = input;
  const now = { misplaced: misplacedCount(pods, { ...workload, spec }), spec };
  const ineffective = ineffectiveMoveCount(input.ineffectiveMoves, now);
  const cooldownMs = cooldownAfter(ineffective, settings.placementCooldown);
  const untilMs = lastMoveAtMs + cooldownMs;
  if (nowMs >= untilMs) return moves;
  const doubt = "is the webhook asked, and may pods be evicted?";
  const why = ineffective === 0 ? "" : `, as ${ineffective} in a row have not helped: ${doubt}`;
  return {
    wait: "MoveCooldown",
    message: `it lasts ${cooldownMs / 1000} s after a move${why}`,
    untilMs,
  };
};

const rateAllowsIt: MoveRule = ({ moves, evictionFromMs, nowMs }) =>
  nowMs >= evictionFromMs
    ? moves
    : { wait: "EvictionRate", message: "it is used up", untilMs: evictionFromMs };

/** No on-demand pod moves to spot while the floor needs it: a budget or a volume may block the pods to fill it. */
const floorStaysFilled: MoveRule = ({ moves, workload, spec, pods }) => {
  const present = countByClass(pods.filter(({ gone }) => !gone));
  const floorNeedsAll = present["on-demand"] <= floorOf(workload.replicas, spec);
  return unlessAll(
    moves,
    "NoneEvictable",
    ({ pod, to }) =>
      floorNeedsAll && pod.class !== "spot" && to === "spot" ? "the floor needs it" : undefined,
  );
};

const podMayMove: MoveRule = ({ moves }) =>
  unlessAll(moves, "NoneEvictable", ({ pod }) => pod.pinned);

const budgetAllowsIt: MoveRule = ({ moves }) =>
  unlessAll(moves, "BlockedByPDB", ({ pod }) => pod.budget);

/** The moves without an obstacle; if all have one, waits because of the first. */
function unlessAll(
  moves: readonly Move[],
  wait: PlacementReason,
  obstacle: (move: Move) => string | undefined,
): readonly Move[] | MoveWait {
  const free = moves.filter((move) => obstacle(move) === undefined);
  const first = moves[0]!;
  return free.length > 0 ? free : { wait, message: `pod ${first.pod.name}: ${obstacle(first)}` };
}

/** In this order: faults of the workload, blocks, waits that pass by themselves, then single pods. */
const RULES: readonly MoveRule[] = [
  allReplicasAreReady,
  somethingIsMisplaced,
  isNotPaused,
  spotIsNotShort,
  windowIsOpen,
  cooldownIsOver,
  rateAllowsIt,
  floorStaysFilled,
  podMayMove,
  budgetAllowsIt,
];

/** The one pod to evict now, or the reason to wait. Pods that leave their node in turn go first. */
export function decideMove(input: MoveDecisionInput, settings: MoveSettings): MoveDecision {
  const { spec, workload, pods } = input;
  const leaving = pods.filter(leavesInTurn).map((pod): Move => ({ pod, to: pod.class }));
  let moves = leaving.length > 0 ? leaving : rankedMoves(pods, { ...workload, spec });
  for (const rule of RULES) {
    const allowed = rule({ ...input, moves, settings });
    if ("wait" in allowed) return allowed;
    moves = allowed;
  }
  return { move: moves[0]! };
}

/** True if each replica is Ready and where it should be. */
export function isAsSpecified(decision: MoveDecision): boolean {
  return "wait" in decision && decision.wait === "AsSpecified";
}

/** True for a pod to evict at once: its node is about to go, and is not drained. */
export function leavesAtOnce(pod: PlacedPod): boolean {
  return precedesSign(pod) && pod.drained !== true;
}

/** True for a pod to evict in turn, as other moves are: its node is drained, and may stay after all. */
export function leavesInTurn(pod: PlacedPod): boolean {
  return precedesSign(pod) && pod.drained === true;
}

/**
 * True for a pod that was created before the node had the sign. A later pod was scheduled there in spite of the
 * sign, and so would its replacement. Creation times are whole seconds: in doubt the pod stays, which is better
 * than two evictions.
 */
function precedesSign({ departs, departsSinceMs = Infinity, createdAtMs }: PlacedPod): boolean {
  return departs !== undefined && createdAtMs < secondOf(departsSinceMs);
}
