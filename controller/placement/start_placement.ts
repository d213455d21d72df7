/**
 * Placement of this replica as the settings want it.
 *
 * @module
 */
import type { Registry } from "prom-client";
import type { Clock } from "../../shared/clock.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { Caches } from "../allocation/caches.ts";
import { LEADER_LEASE } from "../leader_lease.ts";
import type { ControllerSettings } from "../settings.ts";
import { servingNames } from "../webhook/webhook_names.ts";
import type { PlacementAPI } from "./connect_placement.ts";
import { addressedIdentity, peerAddress } from "./leader_address.ts";
import { placementConfig } from "../../shared/placement/settings/placement_config.ts";
import { createPlacementMetrics } from "./placement_metrics.ts";
import { createPlacementReplica, type PlacementReplica } from "./placement_replica.ts";
import type { PeerLink } from "./placement_webhook.ts";
import { createPlacementWebhookMetrics } from "./placement_webhook_metrics.ts";
import { createTLSPeerLink, type TLSPeerLinkOptions } from "./tls_peer_link.ts";

/** What it is made of. */
export interface StartPlacementParts {
  readonly api: PlacementAPI;
  readonly caches: Caches;
  /** As they are now. */
  readonly settings: () => ControllerSettings;
  readonly registry: Registry;
  /** Of this replica in the Lease, without an address. */
  readonly identity: string;
  /** @default {createTLSPeerLink} */
  readonly linkPeers?: (options: TLSPeerLinkOptions) => PeerLink;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** The replica, and what it is called. */
export interface StartedPlacement {
  readonly replica: PlacementReplica;
  /** Under which it holds the Lease: with the address at which the others ask it, where it has one. */
  readonly identity: string;
}

/** A replica with its metrics, and with its half of the webhook where that is on. */
export function startPlacement(
  { settings, registry, identity, linkPeers = createTLSPeerLink, ...parts }: StartPlacementParts,
): StartedPlacement {
  const { caches, log } = parts;
  const { webhook, webhookService, namespace, podIP, peerListen } = settings();
  const core = {
    ...parts,
    config: placementConfig(settings),
    observer: createPlacementMetrics(registry),
  };
  if (!webhook) {
    log.warn(
      "Placement without the webhook: new pods are made as they are sent, and moved one by one",
      { setting: "webhook.enabled" },
    );
    return { replica: createPlacementReplica(core), identity };
  }
  const [serverName = webhookService] = servingNames(webhookService, namespace);
  const addressed = podIP === null
    ? identity
    : addressedIdentity(identity, peerAddress(podIP, peerListen));
  if (podIP === null) {
    log.warn("Only the leader places new pods: other replicas can't ask it", {
      reason: "POD_IP is not set",
    });
  }
  const replica = createPlacementReplica({
    ...core,
    webhook: {
      observer: createPlacementWebhookMetrics(registry),
      lease: () => caches.leases.get(`${namespace}/${LEADER_LEASE}`),
      identity: addressed,
      link: linkPeers({ peerListen, serverName, log }),
    },
  });
  return { replica, identity: addressed };
}
