/**
 * Where a workload that takes part stands. Pure.
 *
 * @module
 */
import type { PlacementReason } from "../../../shared/api/reasons/placement_reasons.ts";
import { remedyFor, sentenceOf } from "../../../shared/api/reasons/reasons.ts";
import type { NextMove } from "../../../shared/placement/next_move.ts";
import { type Shortage, shortagePhase } from "../../../shared/placement/shortage.ts";
import type { PhaseFacts, PlacementPhase } from "./placement_view.ts";

/** What is known. */
export interface PhaseInput {
  /** What the controller answers now. */
  readonly next: NextMove;
  readonly shortage: Shortage | undefined;
  readonly nowMs: number;
}

/** Phases of the reasons for which nothing is moved. */
const WAITS: Readonly<Partial<Record<PlacementReason, PlacementPhase>>> = {
  NotWhole: "NotWhole",
  AsWished: "AsWished",
  PlacementPaused: "Paused",
  SpotFallback: "Fallback",
  WindowClosed: "OutsideWindow",
  MoveCooldown: "Cooldown",
  EvictionRate: "Cooldown",
  NoneEvictable: "Bound",
  BlockedByPDB: "BlockedByBudget",
};

/** Waits that belong to the return from a fallback, and do not hold it up. */
const PARTS_OF_RETURN: ReadonlySet<PlacementReason> = new Set([
  "NotWhole",
  "MoveCooldown",
  "EvictionRate",
]);

/** The phase. A shortage stands over what else keeps replicas from moving. */
export function phaseOf({ next, shortage, nowMs }: PhaseInput): PhaseFacts {
  const short = shortagePhase(shortage, nowMs);
  const wait = "wait" in next ? next : undefined;
  if (short === "fallback" && shortage !== undefined) {
    const also = wait?.wait === "NotWhole" ? `; ${wait.message}` : "";
    return {
      phase: "Fallback",
      until: new Date(shortage.untilMs).toISOString(),
      ...reasonFacts("SpotFallback", `fallback ${shortage.rounds} in a row${also}`),
    };
  }
  const returns = short === "returning" &&
    (wait === undefined || PARTS_OF_RETURN.has(wait.wait));
  if (wait === undefined) {
    return returns
      ? { phase: "Returning", message: "one replica after the other goes back to spot" }
      : { phase: "Converging" };
  }
  const { untilMs, message } = wait;
  return {
    phase: returns ? "Returning" : WAITS[wait.wait] ?? "Unknown",
    ...(untilMs === undefined ? {} : { until: new Date(untilMs).toISOString() }),
    ...reasonFacts(wait.wait, message),
  };
}

/** The reason with its meaning. */
export function reasonFacts(
  reason: PlacementReason,
  message: string,
): Omit<PhaseFacts, "phase" | "until"> {
  const remedy = remedyFor(reason);
  return {
    reason,
    means: sentenceOf(reason),
    ...(remedy === undefined ? {} : { remedy }),
    message,
  };
}
