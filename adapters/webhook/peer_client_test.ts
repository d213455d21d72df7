import assert from "node:assert/strict";
import type { PlacementQuestion } from "../../shared/placement/placement_question.ts";
import {
  type CertificateChain,
  certificateChain,
  issuedCertificate,
  type IssuedWish,
  SERVICE_NAME,
} from "../../tests/fixtures/shared_certificates.ts";
import { createWebhookClient } from "../../tests/fixtures/webhook_client.ts";
import { systemClock } from "../system_clock.ts";
import { createPeerClient, type PeerClient } from "./peer_client.ts";
import { peerRoutes } from "./peer_routes.ts";
import { serveWebhook, type WebhookServer } from "./webhook_server.ts";

const QUESTION: PlacementQuestion = {
  id: "1",
  namespace: "shop",
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f", uid: "rs" },
  revision: "5f",
  pod: {},
  dryRun: false,
};
const SPOT = { class: "spot" } as const;

const chainOf = (name: string) => certificateChain(name, systemClock.wall());

async function serve({ authority, serving }: CertificateChain): Promise<WebhookServer> {
  const app = peerRoutes({ answer: () => Promise.resolve(SPOT), forget: () => {} });
  const certificate = { ...serving, clientAuthorities: authority.cert };
  const clientName = SERVICE_NAME;
  return await serveWebhook(app, { address: "127.0.0.1:0", certificate, clientName });
}

function ask(client: PeerClient, { address }: WebhookServer) {
  return client.ask(QUESTION, { address, signal: AbortSignal.timeout(5000) });
}

Deno.test("createPeerClient() can't ask before it has a certificate", async () => {
  const server = await serve(await chainOf("one"));
  await assert.rejects(
    ask(createPeerClient({ serverName: SERVICE_NAME }), server),
    /no certificate/,
  );
  await server.shutdown();
});

Deno.test("createPeerClient() and its server believe only those of the authority they share", async () => {
  const [one, two] = [await chainOf("one"), await chainOf("two")];
  const server = await serve(one);
  const cases: readonly (readonly [CertificateChain, CertificateChain, string, boolean])[] = [
    [one, one, SERVICE_NAME, true],
    // It shows what the server does not believe.
    [two, one, SERVICE_NAME, false],
    // It does not believe what the server shows.
    [one, two, SERVICE_NAME, false],
    [one, one, "other.svc", false],
  ];
  for (const [shown, believed, serverName, good] of cases) {
    const client = createPeerClient({ serverName });
    client.useCredentials({ ...shown.serving, authorities: believed.authority.cert });
    if (good) assert.deepEqual(await ask(client, server), SPOT);
    else await assert.rejects(ask(client, server));
    client.close();
  }
  // Nor does it hear who shows nothing at all, as API servers do.
  const { address } = server;
  const bundle = one.authority.cert;
  using stranger = createWebhookClient({ address, bundle, serverName: SERVICE_NAME });
  await assert.rejects(stranger.post(JSON.stringify(QUESTION), "/placement/questions"));
  await server.shutdown();
});

Deno.test("createPeerClient() is not heard with another one's certificate of the same authority", async () => {
  const one = await chainOf("one");
  const server = await serve(one);
  const comma = `http://shop.bank/, DNS:${SERVICE_NAME}`;
  const cases: readonly (readonly [IssuedWish, boolean])[] = [
    [{ names: [{ type: "dns", value: SERVICE_NAME }] }, true],
    [{ names: [{ type: "dns", value: "a.svc" }, { type: "dns", value: SERVICE_NAME }] }, true],
    [{ names: [{ type: "dns", value: "shop.bank.svc" }] }, false],
    // Many authorities let their clients choose these.
    [{ names: [{ type: "url", value: comma }] }, false],
    [{ names: [{ type: "dns", value: comma }] }, false],
    [{ names: [{ type: "dns", value: "shop.bank.svc" }], commonName: SERVICE_NAME }, false],
  ];
  for (const [wish, good] of cases) {
    const shown = await issuedCertificate(one.authority, wish);
    const client = createPeerClient({ serverName: SERVICE_NAME });
    client.useCredentials({ ...shown, authorities: one.authority.cert });
    if (good) assert.deepEqual(await ask(client, server), SPOT);
    else await assert.rejects(ask(client, server), JSON.stringify(wish));
    client.close();
  }
  await server.shutdown();
});

Deno.test("createPeerClient() goes on through a change of the authority without a failed question", async () => {
  const [one, two] = [await chainOf("one"), await chainOf("two")];
  const server = await serve(one);
  const client = createPeerClient({ serverName: SERVICE_NAME });
  const both = one.authority.cert + two.authority.cert;
  const steps: readonly (() => void)[] = [
    () => client.useCredentials({ ...one.serving, authorities: one.authority.cert }),
    // Both believe the new authority before anybody shows what it has signed.
    () => client.useCredentials({ ...one.serving, authorities: both }),
    () => server.useCertificate({ ...one.serving, clientAuthorities: both }),
    () => server.useCertificate({ ...two.serving, clientAuthorities: both }),
    () => client.useCredentials({ ...two.serving, authorities: both }),
    () => server.useCertificate({ ...two.serving, clientAuthorities: two.authority.cert }),
    () => client.useCredentials({ ...two.serving, authorities: two.authority.cert }),
  ];
  for (const step of steps) {
    step();
    assert.deepEqual(await ask(client, server), SPOT);
  }
  client.close();
  const old = createPeerClient({ serverName: SERVICE_NAME });
  old.useCredentials({ ...one.serving, authorities: both });
  await assert.rejects(ask(old, server));
  old.close();
  await server.shutdown();
});
