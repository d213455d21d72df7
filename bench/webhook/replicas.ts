/**
 * Two replicas of the webhook over TLS on 127.0.0.1, the second of which counts.
 *
 * @module
 */
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
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
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { createWebhookClient, type WebhookClient } from "../../tests/fixtures/webhook_client.ts";

/** Where pods are asked about. */
export const ROUTE = "/mutate/pods";

/** The replicas, each with who asks it. */
export interface BenchReplicas extends AsyncDisposable {
  readonly clients: readonly WebhookClient[];
  /** Places that are reserved. */
  readonly reserved: () => number;
}

/** Starts them on the same copies. */
export async function startReplicas(copies: HandCopies): Promise<BenchReplicas> {
  const { authority, serving } = await certificateChain("bench", clock.wall());
  const facts = createCopiedFacts(copies, { rules: () => PLACEMENT_RULES });
  const rules = () => PLACEMENT_RULES;
  const counter = createPodCounter(
    { facts, rules, shortageOf: () => "none", clock },
    { settleMs: 0 },
  );
  const peers = await serveWebhook(peerRoutes(counter), {
    address: "127.0.0.1:0",
    certificate: { ...serving, clientAuthorities: authority.cert },
  });
  const peer = createPeerClient({ serverName: SERVICE_NAME });
  peer.useCredentials({ ...serving, authorities: authority.cert });
  const leaders: readonly Leader[] = [
    { is: "other", address: peers.address },
    { is: "self", answers: counter },
  ];
  const servers = await Promise.all(leaders.map((leader) => {
    const scope = () => PLACEMENT_RULES.scope;
    const parts = { leader: () => leader, peer, facts, scope, clock, log: silentLog };
    const answers = createElectedCounter(parts);
    const observer = { answered: () => {} };
    const mutator = createPlacementMutator({ answers, rules, observer, clock, log: silentLog });
    const routes = { [ROUTE]: [mutator] };
    const app = admissionRoutes({ routes, clock, log: silentLog, observer });
    return serveWebhook(app, { address: "127.0.0.1:0", certificate: serving });
  }));
  const clients = servers.map(({ address }) =>
    createWebhookClient({ address, bundle: authority.cert, serverName: SERVICE_NAME })
  );
  return {
    clients,
    reserved: () => counter.reserved,
    async [Symbol.asyncDispose]() {
      for (const client of clients) client[Symbol.dispose]();
      peer.close();
      await Promise.all([...servers, peers].map((server) => server.shutdown()));
      counter.close();
    },
  };
}
