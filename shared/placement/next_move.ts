/**
 * Which replica moves next, or why none does.
 *
 * @module
 */
import type { PlacementReason } from "../api/reasons/placement_reasons.ts";
import { isWindowOpen, nextOpeningMs } from "./disruption_window.ts";
import { misplaced, misplacedCount, type Move, type PlacedWorkload } from "./split.ts";
import { type PlacedPod, secondOf } from "./placed_pod.ts";
import type { PlacementSpec } from "./placement_spec.ts";
import { type Shortage, shortagePhase } from "./shortage.ts";
import { cooldownAfter, ineffectiveMoveCount, type IneffectiveMoves } from "./move_cooldown.ts";

/** The workload, as its status tells. */
export interface ReplicaStatus extends PlacedWorkload {
  /** True where `status.observedGeneration` is `metadata.generation`. */
  readonly observed: boolean;
  /** `status.replicas`. */
  readonly present: number;
  /** `status.readyReplicas`. */
  readonly ready: number;
  /** `status.updatedReplicas`. */
  readonly updated: number;
}

/** What is looked at. */
export interface NextMoveInput {
  readonly workload: ReplicaStatus;
  readonly spec: PlacementSpec;
  /** Pods that the workload owns, of all revisions, also those that are gone. */
  readonly pods: readonly PlacedPod[];
  readonly shortage?: Shortage | undefined;
  /** When a replica of it was last moved, ms since 1970; absent: never. */
  readonly lastMoveAtMs?: number | undefined;
  /** How much the last move has helped; absent: it is not known. */
  readonly ineffectiveMoves?: IneffectiveMoves | undefined;
  /** From when on the cluster may evict one more pod, ms since 1970. */
  readonly evictionFromMs: number;
  readonly nowMs: number;
}

/** How careful it is. */
export interface MoveOptions {
  /** Between two moves of a workload, ms; longer after moves in vain. @default {10000} */
  readonly cooldownMs?: number;
}

/** Why nothing is moved now. */
export interface MoveWait {
  readonly wait: PlacementReason;
  readonly message: string;
  /** When to look again, ms since 1970; absent where only a change helps. */
  readonly untilMs?: number;
}

/** A move, or why there is none. */
export type NextMove = { readonly move: Move } | MoveWait;

interface Considered extends NextMoveInput {
  readonly moves: readonly Move[];
  readonly cooldownMs: number;
  /** Moves in a row that have not helped. */
  readonly ineffective: number;
}

type MoveCheck = (considered: Considered) => MoveWait | undefined;

const replicasAreWhole: MoveCheck = ({ workload, pods }) => {
  const { replicas, observed, present, ready, updated } = workload;
  // Who leaves its node in turn runs until then.
  const live = pods.filter((one) => !one.gone || leavesInTurn(one));
  const liveReady = live.filter((one) => one.ready).length;
  // Pods and status come by different ways: the older of them must not pass for the present.
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
    : { wait: "AsWished", message: "each replica is where it should be" };

const moveIsNotPaused: MoveCheck = ({ spec }) =>
  spec.paused ? { wait: "PlacementPaused", message: "spotalis.io/paused is set" } : undefined;

/** What goes to on-demand needs no spot node. */
const spotIsNotShort: MoveCheck = ({ moves, shortage, nowMs }) =>
  shortage === undefined || shortagePhase(shortage, nowMs) !== "fallback" ||
    moves.some(({ to }) => to === "on-demand")
    ? undefined
    : { wait: "SpotFallback", message: "spot nodes are short", untilMs: shortage.untilMs };

const windowIsOpen: MoveCheck = ({ spec: { window }, nowMs }) => {
  if (window === undefined || isWindowOpen(window, nowMs)) return undefined;
  const untilMs = nextOpeningMs(window, nowMs);
  return {
    wait: "WindowClosed",
    message: `${window.schedule} opens it`,
    ...(untilMs === undefined ? {} : { untilMs }),
  };
};

const cooldownIsOver: MoveCheck = (
  { lastMoveAtMs = -Infinity, cooldownMs: usualMs, ineffective, nowMs },
) => {
  const cooldownMs = cooldownAfter(ineffective, usualMs);
  if (nowMs >= lastMoveAtMs + cooldownMs) return undefined;
  const doubt = "is the webhook asked, and may pods be evicted?";
  const why = ineffective === 0 ? "" : `, as ${ineffective} in a row have not helped: ${doubt}`;
  return {
    wait: "MoveCooldown",
    message: `it lasts ${cooldownMs / 1000} s after a move${why}`,
    untilMs: lastMoveAtMs + cooldownMs,
  };
};

const rateAllowsIt: MoveCheck = ({ evictionFromMs, nowMs }) =>
  nowMs >= evictionFromMs
    ? undefined
    : { wait: "EvictionRate", message: "it is used up", untilMs: evictionFromMs };

/** In this order: what is wrong with the workload before what holds it back, and what passes by itself last. */
const CHECKS: readonly MoveCheck[] = [
  replicasAreWhole,
  somethingIsMisplaced,
  moveIsNotPaused,
  spotIsNotShort,
  windowIsOpen,
  cooldownIsOver,
  rateAllowsIt,
];

/** The one pod to evict now, or the reason to wait. Who leaves its node in turn goes first. */
export function nextMove(
  { spec, workload, pods, ...facts }: NextMoveInput,
  { cooldownMs = 10_000 }: MoveOptions = {},
): NextMove {
  const leaving = pods.filter(leavesInTurn).map((pod): Move => ({ pod, to: pod.class }));
  const moves = leaving.length > 0 ? leaving : misplaced(pods, { ...workload, spec });
  const misplacedNow = misplacedCount(pods, { ...workload, spec });
  const ineffective = ineffectiveMoveCount(facts.ineffectiveMoves, {
    misplaced: misplacedNow,
    spec,
  });
  const considered = { ...facts, spec, workload, pods, moves, cooldownMs, ineffective };
  for (const check of CHECKS) {
    const wait = check(considered);
    if (wait !== undefined) return wait;
  }
  const short = shortagePhase(facts.shortage, facts.nowMs) === "fallback";
  return chosen(moves.filter(({ to }) => !short || to === "on-demand"));
}

function chosen(moves: readonly Move[]): NextMove {
  const free = moves.filter(({ pod }) => pod.pinned === undefined);
  const move = free.find(({ pod }) => pod.budget === undefined);
  if (move !== undefined) return { move };
  const [first] = free;
  return first === undefined
    ? { wait: "NoneEvictable", message: told(moves[0], "pinned") }
    : { wait: "BlockedByPDB", message: told(first, "budget") };
}

function told(move: Move | undefined, by: "pinned" | "budget"): string {
  return `pod ${move?.pod.name}: ${move?.pod[by]}`;
}

/**
 * Whether it leaves at once: its node is gone in a moment, whatever it does. One that was made after the sign
 * was seen stays: it came there all the same, and would come back.
 */
export function leavesAtOnce(pod: PlacedPod): boolean {
  return isEarlier(pod) && pod.drained !== true;
}

/**
 * Whether it leaves one by one, as replicas that are moved do: its node is drained by whoever takes it away,
 * and may stay after all.
 */
export function leavesInTurn(pod: PlacedPod): boolean {
  return isEarlier(pod) && pod.drained === true;
}

/**
 * API servers tell whole seconds. Who was made in that of the sign may have come after it: one pod that stays
 * until its node goes is better than one that is evicted twice.
 */
function isEarlier({ departs, departsSinceMs = Infinity, createdAtMs }: PlacedPod): boolean {
  return departs !== undefined && createdAtMs < secondOf(departsSinceMs);
}
