/**
 * The webhook's half of placement, put together: the mutator, who counts, and the way between replicas.
 *
 * @module
 */
import type { Mutator } from "../../shared/admission/mutator.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { createCounterLeadership } from "./counter_leadership.ts";
import { createElectedCounter, type ElectedCounterOptions } from "./elected_counter.ts";
import { createPlacementMutator } from "./placement_mutator.ts";
import { createPlacementWarner } from "./placement_warner.ts";
import type { PlacementPeers } from "./placement_peers.ts";
import { createPodCounter, type PodCounterOptions } from "./pod_counter.ts";
import type {
  CounterPeer,
  PlacementAnswers,
  PlacementObserver,
  PlacementRules,
  ShortageOf,
  WebhookFacts,
} from "./webhook_ports.ts";

/** The way to the other replicas, and from them. */
export interface PeerLink {
  readonly client: CounterPeer;
  /** Answers them. */
  serve(answers: PlacementAnswers): PlacementPeers;
}

/** What it works with. */
export interface PlacementWebhookParts {
  readonly facts: WebhookFacts;
  readonly rules: () => PlacementRules;
  readonly shortageOf: ShortageOf;
  readonly observer: PlacementObserver;
  /** The controllers' Lease as last seen. */
  readonly lease: () => Lease | undefined;
  /** Under which this replica holds it, see `addressedIdentity()`. */
  readonly identity: string;
  readonly link: PeerLink;
  readonly clock: Clock;
  readonly log: Log;
}

/** The half. */
export interface PlacementWebhook {
  /** Of workloads and of new pods. */
  readonly mutators: readonly Mutator[];
  /** For the webhook, which has the certificates. */
  readonly peers: PlacementPeers;
  /** This replica counts, until the signal is aborted. Resolves once it decides. */
  lead(term: AbortSignal): Promise<void>;
}

/** A replica that does not lead. */
export function createPlacementWebhook(
  parts: PlacementWebhookParts,
  options: ElectedCounterOptions & PodCounterOptions = {},
): PlacementWebhook {
  const { rules, link } = parts;
  const leadership = createCounterLeadership(parts);
  const answers = createElectedCounter({
    ...parts,
    leader: leadership.leader,
    peer: link.client,
    scope: () => rules().scope,
  }, options);
  return {
    mutators: [
      createPlacementWarner({ facts: parts.facts, scope: () => rules().scope }),
      createPlacementMutator({ ...parts, answers }),
    ],
    peers: link.serve(leadership),
    async lead(term) {
      if (term.aborted) return;
      const counter = createPodCounter(parts, options);
      const end = leadership.lead(counter);
      term.addEventListener("abort", () => {
        end();
        counter.close();
      }, { once: true });
      await counter.whenSettled(term);
    },
  };
}
