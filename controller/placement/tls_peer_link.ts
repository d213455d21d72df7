/**
 * The way between replicas over TLS, by the webhook's certificates.
 *
 * @module
 */
import { createPeerClient } from "../../adapters/webhook/peer_client.ts";
import { peerRoutes } from "../../adapters/webhook/peer_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import type { Log } from "../../shared/log.ts";
import { createPlacementPeers } from "./placement_peers.ts";
import type { PeerLink } from "./placement_webhook.ts";

/** What it works with. */
export interface TLSPeerLinkOptions {
  /** Where the other replicas ask, `host:port`. */
  readonly peerListen: string;
  /** The name that the webhook's certificates are for. */
  readonly serverName: string;
  readonly log: Log;
}

/** A way on which nobody speaks before there is a certificate and somebody to trust. */
export function createTLSPeerLink({ peerListen, serverName, log }: TLSPeerLinkOptions): PeerLink {
  const client = createPeerClient({ serverName });
  return {
    client,
    serve(answers) {
      const app = peerRoutes(answers);
      return createPlacementPeers({
        client,
        log,
        listen: (certificate) =>
          serveWebhook(app, { address: peerListen, certificate, clientName: serverName }),
      });
    },
  };
}
