import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import type { Log } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { createWebhookClient } from "../../tests/fixtures/webhook_client.ts";
import { connectWebhook } from "./connect_webhook.ts";

const SERVICE = "mbcas-webhook.mbcas-system.svc";
const DAY_MS = 86_400_000;
const REVIEW = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "1",
    kind: { kind: "Pod" },
    resource: { resource: "pods" },
    operation: "CREATE",
    namespace: "shop",
    object: { metadata: {} },
  },
});

Deno.test("connectWebhook() asks its mutators about new pods, with the certificate of the folder", async () => {
  const folder = await Deno.makeTempDir();
  const nowMs = 1000 * Math.floor(systemClock.wall() / 1000);
  const life = { notBeforeMs: nowMs - DAY_MS, notAfterMs: nowMs + DAY_MS };
  const maker = createCertificateMaker();
  const authority = await maker.makeAuthority({ name: "theirs", ...life });
  const pair = await maker.makeServing(authority, { names: [SERVICE], ...life });
  await Deno.writeTextFile(`${folder}/tls.crt`, pair.cert);
  await Deno.writeTextFile(`${folder}/tls.key`, pair.key);
  const serving = Promise.withResolvers<string>();
  const log: Log = {
    debug: () => {},
    info: (message, fields) => {
      if (message === "Webhook serving") serving.resolve(String(fields?.["address"]));
    },
    warn: (message) => serving.reject(new Error(message)),
    error: (message) => serving.reject(new Error(message)),
  };
  const waits: (string | undefined)[] = [];
  const answered: string[] = [];
  const end = new AbortController();
  const webhook = connectWebhook({
    request: () => Promise.reject(new Error("no server")),
    async *lines() {},
  }, {
    namespace: "mbcas-system",
    webhookListen: "127.0.0.1:0",
    webhookCertificates: "files",
    webhookFolder: folder,
    webhookService: "mbcas-webhook",
    clock: systemClock,
    random: seededRandom(1),
    log,
    observer: {
      serves: () => {},
      made: () => {},
      answered: ({ route, result }) => void answered.push(`${route} ${result}`),
    },
    waitsFor: (reason) => void waits.push(reason),
  });
  const patch = [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }] as const;
  const running = webhook([{ name: "labels", mutate: () => ({ patch }) }], end.signal);
  {
    const address = await serving.promise;
    using client = createWebhookClient({ address, bundle: authority.cert, serverName: SERVICE });
    const { status, text } = await client.post(REVIEW, "/mutate/pods");
    assert.equal(status, 200);
    const { response } = JSON.parse(text);
    assert.deepEqual(JSON.parse(atob(response.patch)), patch);
    // Of workloads, and where Spotalis had it.
    assert.equal((await client.post(REVIEW, "/mutate/workloads")).status, 200);
    assert.equal((await client.post(REVIEW, "/mutate")).status, 200);
    assert.equal((await client.post(REVIEW, "/mutate/nodes")).status, 404);
  }
  assert.deepEqual(
    answered,
    ["/mutate/pods", "/mutate/workloads", "/mutate"].map((one) => `${one} patched`),
  );
  assert.equal(waits.at(-1), undefined);
  end.abort();
  await running;
  assert.match(waits.at(-1) ?? "", / ended$/);
  await Deno.remove(folder, { recursive: true });
});
