/**
 * Who counts pods at this moment: the holder of the controllers' Lease.
 *
 * @module
 */
import type { Lease } from "../../shared/api/lease.ts";
import type { Clock } from "../../shared/clock.ts";
import type { PlacementVerdict } from "../../shared/placement/placement_question.ts";
import { addressOfHolder } from "./leader_address.ts";
import type { Leader, PlacementAnswers } from "./webhook_ports.ts";

/** What it is told by. */
export interface CounterLeadershipParts {
  /** The Lease as last seen. */
  readonly lease: () => Lease | undefined;
  /** Under which this replica would hold it. */
  readonly identity: string;
  readonly clock: Clock;
}

/** Knows who counts, and answers the other replicas where it is this one. */
export interface CounterLeadership extends PlacementAnswers {
  leader(): Leader;
  /** From now on these answers count, until the returned function is called. */
  lead(answers: PlacementAnswers): () => void;
}

/** Nobody leads here yet. */
export function createCounterLeadership(
  { lease, identity, clock }: CounterLeadershipParts,
): CounterLeadership {
  let own: PlacementAnswers | undefined;
  let seen: { readonly version: string; readonly atMs: number } | undefined;

  /** True while the holder renews it, by the time at which that is seen here: clocks differ. */
  function isHeld({ metadata: { resourceVersion: version }, durationSeconds }: Lease): boolean {
    const nowMs = clock.monotonic();
    if (seen?.version !== version) seen = { version, atMs: nowMs };
    return nowMs - seen.atMs < durationSeconds * 1000;
  }

  function leader(): Leader {
    if (own !== undefined) return { is: "self", answers: own };
    const found = lease();
    if (found === undefined || !isHeld(found) || found.holder === identity) return { is: "nobody" };
    const address = addressOfHolder(found.holder);
    return address === undefined ? { is: "nobody" } : { is: "other", address };
  }

  return {
    leader,
    lead(answers) {
      own = answers;
      return () => {
        if (own === answers) own = undefined;
      };
    },
    async answer(question, signal): Promise<PlacementVerdict> {
      // Whoever asks has an old Lease in mind; it is not asked on, or questions could go in circles.
      return await own?.answer(question, signal) ?? { unplaced: "NoLeader" };
    },
    forget: (id) => own?.forget(id),
  };
}
