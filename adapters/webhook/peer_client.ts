/**
 * Asks another replica of the webhook over TLS, in which both sides show certificates of the authority
 * that they share.
 *
 * @module
 */
import { Agent, request as httpsRequest } from "node:https";
import {
  parsePlacementVerdict,
  type PlacementQuestion,
  type PlacementVerdict,
} from "../../shared/placement/placement_question.ts";
import { FORGOTTEN_ROUTE, MOST_PEER_BYTES, QUESTIONS_ROUTE } from "./peer_routes.ts";

/** What a replica shows, and whom it believes; PEM. */
export interface PeerCredentials {
  readonly cert: string;
  readonly key: string;
  readonly authorities: string;
}

/** Asks replicas; the controller's port `CounterPeer`. */
export interface PeerClient {
  /** Throws where there is no verdict before the signal is aborted. Connections are kept. */
  ask(
    question: PlacementQuestion,
    asked: { readonly address: string; readonly signal: AbortSignal },
  ): Promise<PlacementVerdict>;
  forget(id: string, address: string): void;
  /** Shows these to the connections to come. */
  useCredentials(credentials: PeerCredentials): void;
  close(): void;
}

/** Whom to ask. */
export interface PeerClientOptions {
  /** The name that each replica's certificate is for, whatever its address. */
  readonly serverName: string;
  /**
   * How long to try to have something forgotten, ms.
   *
   * @default {1000}
   */
  readonly forgetWithinMs?: number;
}

/** Connections to one replica at the same time: a burst of pods is a burst of questions. */
const MOST_SOCKETS = 16;

interface Call {
  readonly address: string;
  readonly route: string;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** A client that can't ask before it has credentials. */
export function createPeerClient(
  { serverName, forgetWithinMs = 1000 }: PeerClientOptions,
): PeerClient {
  let link: { readonly agent: Agent; readonly credentials: PeerCredentials } | undefined;

  function call({ address, route, body, signal }: Call): Promise<string> {
    if (link === undefined) throw new Error("Cannot ask a replica: there is no certificate yet");
    const { agent, credentials: { cert, key, authorities } } = link;
    const { hostname, port } = new URL(`https://${address}`);
    return new Promise((resolve, reject) => {
      const request = httpsRequest({
        method: "POST",
        hostname: hostname.replace(/^\[|\]$/g, ""),
        port,
        path: route,
        agent,
        cert,
        key,
        ca: authorities,
        servername: serverName,
        minVersion: "TLSv1.2",
        signal,
        headers: {
          "content-type": "application/json",
          "content-length": new TextEncoder().encode(body).length,
        },
      }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (chunk: string) => {
          text += chunk;
          if (text.length > MOST_PEER_BYTES) request.destroy(new Error("Cannot read: too long"));
        });
        response.on("error", reject);
        response.on("end", () => {
          const { statusCode: status = 0 } = response;
          if (status >= 200 && status < 300) resolve(text);
          else reject(new Error(`Cannot ask a replica: it answers ${status}`));
        });
      });
      request.on("error", reject);
      request.end(body);
    });
  }

  return {
    async ask(question, { address, signal }) {
      const body = JSON.stringify(question);
      return parsePlacementVerdict(await call({ address, route: QUESTIONS_ROUTE, body, signal }));
    },
    forget(id, address) {
      const signal = AbortSignal.timeout(forgetWithinMs);
      const told = async (): Promise<string> =>
        await call({ address, route: FORGOTTEN_ROUTE, body: id, signal });
      // Whoever can't be told gives the place up in time.
      told().catch(() => {});
    },
    useCredentials(credentials) {
      const { cert, authorities } = link?.credentials ?? {};
      if (cert === credentials.cert && authorities === credentials.authorities) return;
      // Answers in work come over the old agent's connections, which end by themselves.
      link = {
        agent: new Agent({ keepAlive: true, maxSockets: MOST_SOCKETS, timeout: 60_000 }),
        credentials,
      };
    },
    close: () => link?.agent.destroy(),
  };
}
