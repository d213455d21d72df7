/**
 * The TLS between replicas that place pods: listens and asks with what the webhook serves, as soon as
 * there is a certificate and somebody to trust.
 *
 * @module
 */
import type { Log } from "../../shared/log.ts";
import type { KeyedCertificate } from "../webhook/ports.ts";

/** A server that listens. */
export interface ListeningPeer {
  readonly address: string;
  useCertificate(pair: PeerPair): void;
  shutdown(): Promise<void>;
}

/** What a server shows, and whose clients it hears; PEM. */
export interface PeerPair extends KeyedCertificate {
  readonly clientAuthorities: string;
}

/** What they work with. */
export interface PlacementPeersParts {
  /** Answers the other replicas with this pair. */
  readonly listen: (pair: PeerPair) => Promise<ListeningPeer>;
  /** Who asks them. */
  readonly client: {
    useCredentials(credentials: KeyedCertificate & { readonly authorities: string }): void;
    close(): void;
  };
  readonly log: Log;
}

/** Replicas that ask each other; the webhook's `peers`. */
export interface PlacementPeers {
  believe(authorities: string): Promise<void>;
  use(pair: KeyedCertificate): Promise<void>;
  /** Asks and answers nobody any more. */
  shutdown(): Promise<void>;
}

/** Peers that wait for a certificate. What `listen` throws, the first of the two calls throws on. */
export function createPlacementPeers(
  { listen, client, log }: PlacementPeersParts,
): PlacementPeers {
  let pair: KeyedCertificate | undefined;
  let authorities = "";
  let server: ListeningPeer | undefined;

  async function refresh(): Promise<void> {
    // Without authorities everybody would be believed, or nobody.
    if (pair === undefined || authorities === "") return;
    const { cert, key } = pair;
    client.useCredentials({ cert, key, authorities });
    const shown = { cert, key, clientAuthorities: authorities };
    if (server !== undefined) return server.useCertificate(shown);
    server = await listen(shown);
    log.info("Replicas answered", { address: server.address });
  }

  return {
    async believe(present) {
      if (present === authorities) return;
      authorities = present;
      await refresh();
    },
    async use(present) {
      pair = present;
      await refresh();
    },
    async shutdown() {
      client.close();
      await server?.shutdown();
    },
  };
}
