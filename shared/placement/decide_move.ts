/**
 * Decides which replica to evict now so that it moves, or why none moves. `forecast_step.ts` forecasts for
 * people what is due later.
 *
 * @module
 */
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import type { ReplicaCounts } from "../api/workload.ts";
import { isWindowOpen, parseCronSchedule } from "./disruption_window.ts";
import { cooldownAfter, ineffectiveMoveCount, type IneffectiveMoves } from "./move_cooldown.ts";
import { countByClass, type PlacedPod, secondOf } from "./placed_pod.ts";
import type { PlacedKind, PlacementSpec } from "./eligibility.ts";
import { type Shortage, shortagePhase } from "./shortage.ts";
import { floorOf, misplaced, misplacedCount, type Move } from "./split.ts";

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

interface CheckInput extends MoveDecisionInput {
  readonly moves: readonly Move[];
  readonly cooldownMs: number;
}

type MoveCheck = (input: CheckInput) => MoveWait | undefined;

const allReplicasAreReady: MoveCheck = ({ workload, pods }) => {
  const { replicas, observed, present, ready, updated } = workload;
  // A pod on a node that is drained runs until it leaves.
  const live = pods.filter((one) => !one.gone || leavesInTurn(one));
  const liveReady = live.filter((one) => one.ready).length;
  // Pods and status come from different caches: neither may be the older one.
  if (observed && [present, ready, updated, live.length, liveReady].every((n) => n === replicas)) {
    return undefined;
  }
  return {
    wait: "NotWhole",
    message: `of ${replicas} replicas ${present} are there, ${ready} Ready, ${updated} updated; ` +
      `of ${live.length} pods ${liveReady} are Ready`,
  };
};

const somethingIsMisplaced: MoveCheck = ({ moves }) =>
  moves.length > 0
    ? undefined
    : { wait: "AsSpecified", message: "each replica is where it should be" };

const isNotPaused: MoveCheck = ({ spec }) =>
  spec.paused ? { wait: "PlacementPaused", message: "spotalis.io/paused is set" } : undefined;

/** A move to on-demand needs no spot node. */
const spotIsNotShort: MoveCheck = ({ moves, shortage, nowMs }) =>
  shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback" ||
    moves.some(({ to }) => to === "on-demand")
    ? undefined
    : { wait: "SpotFallback", message: "spot nodes are short", untilMs: shortage.untilMs };

const windowIsOpen: MoveCheck = ({ spec: { window }, nowMs }) => {
  if (window === undefined || isWindowOpen(window, nowMs)) return undefined;
  const untilMs = parseCronSchedule(window.schedule).next(nowMs);
  return {
    wait: "WindowClosed",
    message: `${window.schedule} opens it`,
    ...(untilMs === undefined ? {} : { untilMs }),
  };
};

const cooldownIsOver: MoveCheck = (input) => {
  const { workload, spec, pods, lastMoveAtMs = -Infinity, nowMs } = input;
  const now = { misplaced: misplacedCount(pods, { ...workload, spec }), spec };
  const ineffective = ineffectiveMoveCount(input.ineffectiveMoves, now);
  const cooldownMs = cooldownAfter(ineffective, input.cooldownMs);
  const untilMs = lastMoveAtMs + cooldownMs;
  if (nowMs >= untilMs) return undefined;
  const doubt = "is the webhook asked, and may pods be evicted?";
  const why = ineffective === 0 ? "" : `, as ${ineffective} in a row have not helped: ${doubt}`;
  return {
    wait: "MoveCooldown",
    message: `it lasts ${cooldownMs / 1000} s after a move${why}`,
    untilMs,
  };
};

const rateAllowsIt: MoveCheck = ({ evictionFromMs, nowMs }) =>
  nowMs >= evictionFromMs
    ? undefined
    : { wait: "EvictionRate", message: "it is used up", untilMs: evictionFromMs };

/** In this order: what is wrong with the workload, then what blocks it, then what passes by itself. */
const CHECKS: readonly MoveCheck[] = [
  allReplicasAreReady,
  somethingIsMisplaced,
  isNotPaused,
  spotIsNotShort,
  windowIsOpen,
  cooldownIsOver,
  rateAllowsIt,
];

/**
 * The one pod to evict now, or the reason to wait. Pods that leave their node in turn go first. `cooldownMs`
 * is the time between two moves of a workload, 10 s by default.
 */
export function decideMove(
  input: MoveDecisionInput,
  { cooldownMs = 10_000 }: { readonly cooldownMs?: number } = {},
): MoveDecision {
  const { spec, workload, pods, shortage, nowMs } = input;
  const leaving = pods.filter(leavesInTurn).map((pod): Move => ({ pod, to: pod.class }));
  const moves = leaving.length > 0 ? leaving : misplaced(pods, { ...workload, spec });
  for (const check of CHECKS) {
    const wait = check({ ...input, moves, cooldownMs });
    if (wait !== undefined) return wait;
  }
  const isShort = shortagePhase(shortage, nowMs) === "fallback";
  const present = countByClass(pods.filter(({ gone }) => !gone));
  // Where a budget or a volume keeps the pods that are to fill the floor, others must not leave it.
  const isFloorBare = present["on-demand"] <= floorOf(workload.replicas, spec);
  return firstAllowed(
    moves.filter(({ pod, to }) =>
      to === "on-demand" || (!isShort && (pod.class === "spot" || !isFloorBare))
    ),
  );
}

function firstAllowed(moves: readonly Move[]): MoveDecision {
  const free = moves.filter(({ pod }) => pod.pinned === undefined);
  const move = free.find(({ pod }) => pod.budget === undefined);
  if (move !== undefined) return { move };
  const [blocked] = free;
  if (blocked !== undefined) {
    const { name, budget } = blocked.pod;
    return { wait: "BlockedByPDB", message: `pod ${name}: ${budget}` };
  }
  const pod = moves[0]?.pod;
  return { wait: "NoneEvictable", message: `pod ${pod?.name}: ${pod?.pinned}` };
}

/** True if each replica is Ready and where it should be. */
export function isAsSpecified(decision: MoveDecision): boolean {
  return "wait" in decision && decision.wait === "AsSpecified";
}

/** True for a pod to evict at once: its node is gone in a moment. */
export function leavesAtOnce(pod: PlacedPod): boolean {
  return precedesSign(pod) && pod.drained !== true;
}

/** True for a pod that moves in turn, as others do: its node is drained, and may stay after all. */
export function leavesInTurn(pod: PlacedPod): boolean {
  return precedesSign(pod) && pod.drained === true;
}

/**
 * A pod that was created after the sign came there in spite of it, and so would its replacement. Creation
 * times are whole seconds: in doubt the pod stays, which is better than two evictions.
 */
function precedesSign({ departs, departsSinceMs = Infinity, createdAtMs }: PlacedPod): boolean {
  return departs !== undefined && createdAtMs < secondOf(departsSinceMs);
}
