import assert from "node:assert/strict";
import { createPeerClient } from "../../adapters/webhook/peer_client.ts";
import { peerRoutes } from "../../adapters/webhook/peer_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import { systemClock } from "../../adapters/system_clock.ts";
import { silentLog } from "../../shared/log.ts";
import type { PlacementQuestion } from "../../shared/placement/placement_question.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { createPlacementPeers } from "./placement_peers.ts";

const QUESTION: PlacementQuestion = {
  id: "1",
  namespace: "shop",
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f", uid: "rs" },
  revision: "5f",
  pod: {},
  dryRun: false,
};

Deno.test("createPlacementPeers() listens and asks once it has a certificate and authorities", async () => {
  const [one, two] = await Promise.all(
    ["one", "two"].map((name) => certificateChain(name, systemClock.wall())),
  );
  assert.ok(one !== undefined && two !== undefined);
  const addresses: string[] = [];
  const client = createPeerClient({ serverName: SERVICE_NAME });
  const app = peerRoutes({ answer: () => Promise.resolve({ class: "spot" }), forget: () => {} });
  const peers = createPlacementPeers({
    client,
    log: silentLog,
    async listen(certificate) {
      const server = await serveWebhook(app, { address: "127.0.0.1:0", certificate });
      addresses.push(server.address);
      return server;
    },
  });
  await peers.use(one.serving);
  assert.equal(addresses.length, 0);
  await peers.believe(one.authority.cert);
  const ask = async () => {
    const [address = ""] = addresses;
    return await client.ask(QUESTION, { address, signal: AbortSignal.timeout(5000) });
  };
  assert.deepEqual(await ask(), { class: "spot" });
  await peers.believe(two.authority.cert + one.authority.cert);
  assert.deepEqual(await ask(), { class: "spot" });
  await peers.use(two.serving);
  assert.deepEqual(await ask(), { class: "spot" });
  assert.equal(addresses.length, 1);
  await peers.shutdown();
  await assert.rejects(ask());
});

Deno.test("createPlacementPeers() ends where it has never begun", async () => {
  const peers = createPlacementPeers({
    client: createPeerClient({ serverName: SERVICE_NAME }),
    log: silentLog,
    listen: () => assert.fail("there is nothing to listen with"),
  });
  await peers.believe("");
  await peers.shutdown();
});
