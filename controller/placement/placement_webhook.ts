/**
 * The webhook's half of placement, put together: the mutator, who counts, and the TLS between replicas.
 *
 * @module
 */
import { createPeerClient } from "../../adapters/webhook/peer_client.ts";
import { peerRoutes } from "../../adapters/webhook/peer_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import type { Lease } from "../../shared/api/lease.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import { createCounterLeadership } from "./counter_leadership.ts";
import { createElectedCounter, type ElectedCounterOptions } from "./elected_counter.ts";
import { createPlacementMutator } from "./placement_mutator.ts";
import { createPlacementPeers, type PlacementPeers } from "./placement_peers.ts";
import { createPodCounter, type PodCounterOptions } from "./pod_counter.ts";
import type {
  PlacementObserver,
  PlacementRules,
  ShortageOf,
  WebhookFacts,
} from "./webhook_ports.ts";

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
  /** Where the other replicas ask, `host:port`. */
  readonly peerListen: string;
  /** The name that the webhook's certificates are for. */
  readonly serverName: string;
  readonly clock: Clock;
  readonly log: Log;
}

/** The half. */
export interface PlacementWebhook {
  readonly mutator: Mutator;
  /** For the webhook, which has the certificates. */
  readonly peers: PlacementPeers;
  /** This replica counts, until the signal is aborted. */
  lead(term: AbortSignal): void;
}

/** A replica that does not lead. */
export function createPlacementWebhook(
  parts: PlacementWebhookParts,
  options: ElectedCounterOptions & PodCounterOptions = {},
): PlacementWebhook {
  const { rules, serverName, peerListen: address, log } = parts;
  const leadership = createCounterLeadership(parts);
  const client = createPeerClient({ serverName });
  const answers = createElectedCounter({
    ...parts,
    leader: leadership.leader,
    peer: client,
    scope: () => rules().scope,
  }, options);
  const app = peerRoutes(leadership);
  return {
    mutator: createPlacementMutator({ ...parts, answers }),
    peers: createPlacementPeers({
      client,
      log,
      listen: (certificate) => serveWebhook(app, { address, certificate }),
    }),
    lead(term) {
      if (term.aborted) return;
      const counter = createPodCounter(parts, options);
      const end = leadership.lead(counter);
      term.addEventListener("abort", () => {
        end();
        counter.close();
      }, { once: true });
    },
  };
}
