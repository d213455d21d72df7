/**
 * One replica of the webhook over TLS on 127.0.0.1.
 *
 * @module
 */
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import type { KeyedCertificate } from "../../adapters/webhook/certificate_maker.ts";
import { createPeerClient } from "../../adapters/webhook/peer_client.ts";
import { peerRoutes } from "../../adapters/webhook/peer_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import { systemClock as clock } from "../../adapters/system_clock.ts";
import { createCopiedFacts } from "../../controller/placement/copied_facts.ts";
import { createElectedCounter } from "../../controller/placement/elected_counter.ts";
import { createPlacementMutator } from "../../controller/placement/placement_mutator.ts";
import { createPodCounter } from "../../controller/placement/pod_counter.ts";
import type { Leader } from "../../controller/placement/webhook_ports.ts";
import { silentLog } from "../../shared/log.ts";
import { type HandCopies, PLACEMENT_RULES } from "../../tests/fixtures/placement_copies.ts";
import { SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";

/** Where pods are asked about. */
export const ROUTE = "/mutate/pods";

/** What all replicas share, and who of them counts. */
export interface ReplicaOptions {
  readonly serving: KeyedCertificate;
  /** PEM. */
  readonly authority: string;
  /** The peers' address of the replica that counts; absent: this one does. */
  readonly leader?: string;
}

/** Where it is asked, each `host:port`. */
export interface ReplicaAddresses {
  /** By API servers. */
  readonly address: string;
  /** By other replicas. */
  readonly peers: string;
}

/** Starts it on these copies. It ends with its process. */
export async function startReplica(
  copies: HandCopies,
  { serving, authority, leader: other }: ReplicaOptions,
): Promise<ReplicaAddresses> {
  const facts = createCopiedFacts(copies, { rules: () => PLACEMENT_RULES });
  const rules = () => PLACEMENT_RULES;
  const counter = createPodCounter(
    { facts, rules, shortageOf: () => "none", clock },
    { settleMs: 0 },
  );
  const peers = await serveWebhook(peerRoutes(counter), {
    address: "127.0.0.1:0",
    certificate: { ...serving, clientAuthorities: authority },
  });
  const peer = createPeerClient({ serverName: SERVICE_NAME });
  peer.useCredentials({ ...serving, authorities: authority });
  const leader: Leader = other === undefined
    ? { is: "self", answers: counter }
    : { is: "other", address: other };
  const scope = () => PLACEMENT_RULES.scope;
  const parts = { leader: () => leader, peer, facts, scope, clock, log: silentLog };
  const answers = createElectedCounter(parts);
  const observer = { answered: () => {} };
  const mutator = createPlacementMutator({
    answers,
    facts,
    rules,
    observer,
    clock,
    log: silentLog,
  });
  const routes = { [ROUTE]: [mutator] };
  const app = admissionRoutes({ routes, clock, log: silentLog, observer });
  const server = await serveWebhook(app, { address: "127.0.0.1:0", certificate: serving });
  return { address: server.address, peers: peers.address };
}
