/**
 * Brings each question to the one replica that counts.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { PlacementScope } from "../../shared/placement/placement_gate.ts";
import { questionGate } from "./question_gate.ts";
import type { CounterPeer, Leader, PlacementAnswers, WebhookFacts } from "./webhook_ports.ts";

/** What a replica asks with. */
export interface ElectedCounterParts {
  /** Who counts now. */
  readonly leader: () => Leader;
  readonly peer: CounterPeer;
  /** Its own copies: what these say not to place nobody needs to be asked about. */
  readonly facts: WebhookFacts;
  readonly scope: () => PlacementScope;
  readonly clock: Clock;
  readonly log: Log;
}

/** Why a wait ends early. */
const ANSWERED = Symbol("answered");

/** How long to wait. */
export interface ElectedCounterOptions {
  /**
   * For another replica's answer, ms; far below the 200 ms that pods wait for at most.
   *
   * @default {100}
   */
  readonly peerWithinMs?: number;
}

/** Asks the leader, be it this replica or another one; without one, and without its answer, nothing. */
export function createElectedCounter(
  { leader, peer, facts, scope, clock, log }: ElectedCounterParts,
  { peerWithinMs = 100 }: ElectedCounterOptions = {},
): Pick<PlacementAnswers, "answer"> {
  return {
    async answer(question, signal) {
      const now = leader();
      if (now.is === "self") return await now.answers.answer(question, signal);
      const gate = questionGate(question, { facts, scope: scope() });
      if ("unplaced" in gate && gate.unplaced !== "CopyBehind") return gate;
      if (now.is === "nobody") return { unplaced: "NoLeader" };
      if (signal.aborted) return { unplaced: "LeaderSilent" };
      const late = new AbortController();
      const answered = new AbortController();
      const giveUp = (): void => late.abort();
      signal.addEventListener("abort", giveUp, { once: true });
      const waited = clock.sleep(peerWithinMs, answered.signal).then(() => {
        if (!answered.signal.aborted) giveUp();
      });
      try {
        return await peer.ask(question, { address: now.address, signal: late.signal });
      } catch (error) {
        // It may have decided after all, and would count a pod that is not made so.
        peer.forget(question.id, now.address);
        log.debug("The leader has not answered", { leader: now.address, error: String(error) });
        return { unplaced: "LeaderSilent" };
      } finally {
        // The platform's own reason takes a stack trace, for each pod that is made.
        answered.abort(ANSWERED);
        signal.removeEventListener("abort", giveUp);
        await waited;
      }
    },
  };
}
