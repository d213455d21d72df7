/**
 * The contract suite of `CounterPeer`, against replicas that call each other and against those that
 * speak TLS.
 */
import { createPeerClient } from "../../adapters/webhook/peer_client.ts";
import { peerRoutes } from "../../adapters/webhook/peer_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import { createCalledPeers } from "../fixtures/called_peers.ts";
import { certificateChain, SERVICE_NAME } from "../fixtures/shared_certificates.ts";
import { counterPeerContract } from "./counter_peer_contract.ts";

counterPeerContract("called", (answers) =>
  Promise.resolve({
    peer: createCalledPeers(new Map([["one", answers]])),
    address: "one",
    nowhere: "two",
    settle: (promise) => promise,
    close: () => Promise.resolve(),
  }));

counterPeerContract("TLS", async (answers) => {
  const { authority, serving } = await certificateChain("one", Date.now());
  const server = await serveWebhook(peerRoutes(answers), {
    address: "127.0.0.1:0",
    certificate: { ...serving, clientAuthorities: authority.cert },
    clientName: SERVICE_NAME,
    graceMs: 10,
  });
  const peer = createPeerClient({ serverName: SERVICE_NAME });
  peer.useCredentials({ ...serving, authorities: authority.cert });
  return {
    peer,
    address: server.address,
    nowhere: "127.0.0.1:1",
    settle: (promise) => promise,
    async close() {
      peer.close();
      await server.shutdown();
    },
  };
});
