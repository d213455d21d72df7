/**
 * Placement in one replica of the controller: its copies, its half of the webhook, and the leader's loop.
 *
 * @module
 */
import type { Mutator } from "../../shared/admission/mutator.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { Caches } from "../allocation/caches.ts";
import { createCopiedFacts } from "./copied_facts.ts";
import type { PlacementAPI } from "./connect_placement.ts";
import { createEvictedPods } from "./evicted_pods.ts";
import { createKnownShortages } from "./known_shortages.ts";
import type { PlacementConfig } from "../../shared/placement/settings/placement_config.ts";
import { createPlacementCopies, type PlacementCopies } from "./placement_copies.ts";
import type { PlacementObserver } from "./placement_observer.ts";
import type { PlacementPeers } from "./placement_peers.ts";
import { createPlacementWebhook, type PlacementWebhookParts } from "./placement_webhook.ts";
import { keepPlacement } from "./run_placement.ts";

/** What it runs with. */
export interface PlacementReplicaParts {
  readonly api: PlacementAPI;
  /** Somebody else runs them. */
  readonly caches: Caches;
  readonly config: PlacementConfig;
  readonly observer?: PlacementObserver;
  /** Absent: pods are made as they are sent, and moved afterwards. */
  readonly webhook?: Pick<PlacementWebhookParts, "observer" | "lease" | "link" | "identity">;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Placement of a replica. */
export interface PlacementReplica {
  /** For somebody else to run. */
  readonly copies: PlacementCopies;
  /** Of workloads and of new pods; none without the webhook. */
  readonly mutators: readonly Mutator[];
  /** For the webhook, which has the certificates; absent without it. */
  readonly peers?: PlacementPeers;
  /** Counts and moves pods until the signal is aborted. */
  lead(term: AbortSignal): Promise<void>;
}

/** A replica that does not lead. */
export function createPlacementReplica(
  { api, caches: shared, config, observer, webhook: half, ...parts }: PlacementReplicaParts,
): PlacementReplica {
  const { clock, log } = parts;
  const copies = createPlacementCopies(api.sources, parts);
  const caches = { ...shared, ...copies };
  const evicted = createEvictedPods();
  const shortages = createKnownShortages(clock);
  const rules = (): PlacementConfig => config;
  const webhook = half && createPlacementWebhook({
    ...half,
    facts: createCopiedFacts(caches, { rules, evicted }),
    rules,
    shortageOf: shortages.shortageOf,
    clock,
    log,
  });
  return {
    copies,
    mutators: webhook?.mutators ?? [],
    ...(webhook === undefined ? {} : { peers: webhook.peers }),
    async lead(term) {
      let counts = false;
      await keepPlacement({
        api,
        caches,
        config,
        clock,
        log,
        evicted,
        ...(observer === undefined ? {} : { observer }),
        async remembers(book) {
          // What is short must be known to whoever counts, and who counts before anything is moved:
          // a pod that nobody places would come back where it was.
          shortages.follow(book);
          if (counts) return;
          counts = true;
          await webhook?.lead(term);
        },
      }, term);
    },
  };
}
