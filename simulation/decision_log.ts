/**
 * Remembers why the agent wanted each limit, until it is in force.
 *
 * @module
 */
import type { RoundResult } from "../agent/market/round.ts";
import type { MarketReason } from "../shared/api/reasons/market_reasons.ts";

/** Why a limit was wanted. */
export interface Decided {
  readonly reason: MarketReason;
  /** 1/millicore; absent when it was infinite. */
  readonly price?: number;
}

/** What was decided for each container. */
export interface DecisionLog {
  /** Notes the changes of a round. */
  note(round: RoundResult): void;
  /**
   * The latest decision that led a container to a limit in millicores. Throws an `Error` when there
   * is none: a change without a reason must not go unseen.
   */
  of(containerID: string, limit: number): Decided;
}

/** Decisions that are kept per container: more are never under way at once. */
const KEPT = 16;

/** An empty log. */
export function createDecisionLog(): DecisionLog {
  const decided = new Map<string, { limit: number; decided: Decided }[]>();
  return {
    note: (round) => {
      for (const { participant, limit, changedFor } of round.containers) {
        if (changedFor === undefined) continue;
        const past = decided.get(participant.containerID) ?? [];
        const why = Number.isFinite(round.price)
          ? { reason: changedFor, price: round.price }
          : { reason: changedFor };
        decided.set(participant.containerID, [...past, { limit, decided: why }].slice(-KEPT));
      }
    },
    of: (containerID, limit) => {
      const found = decided.get(containerID)?.findLast((past) => past.limit === limit);
      if (found === undefined) {
        throw new Error(`Cannot explain a limit: ${containerID} at ${limit}m was never decided`);
      }
      return found.decided;
    },
  };
}
