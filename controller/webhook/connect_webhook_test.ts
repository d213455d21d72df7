import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import type { Mutator } from "../../shared/admission/mutator.ts";
import { serveWebhookObjects } from "../../tests/fixtures/webhook/canned_webhook_objects.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/webhook/certificate_chain.ts";
import { createWebhookClient } from "../../tests/fixtures/webhook/webhook_client.ts";
import { type ConnectedWebhookOptions, connectWebhook } from "./connect_webhook.ts";
import { WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_names.ts";

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

/** A webhook on a server without Secret and EndpointSlice. */
function stage(more: Partial<ConnectedWebhookOptions> = {}, mutators: readonly Mutator[] = []) {
  const server = serveWebhookObjects({ name: WEBHOOK_CONFIGURATION, webhooks: ["pods.mbcas.io"] });
  const logged: string[] = [];
  const waits: (string | undefined)[] = [];
  const answered: string[] = [];
  const serving = Promise.withResolvers<string>();
  const published = Promise.withResolvers<void>();
  const note = (message: string, fields = {}): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
    if (/endpoint/i.test(message)) published.resolve();
  };
  const end = new AbortController();
  const webhook = connectWebhook(server.connection, {
    namespace: "mbcas-system",
    webhookListen: "127.0.0.1:0",
    webhookCertificates: "self",
    webhookFolder: "/none",
    webhookService: "mbcas-webhook",
    podIP: "10.0.0.7",
    clock: systemClock,
    log: {
      debug: note,
      info(message, fields) {
        note(message, fields);
        if (message === "Webhook serving") serving.resolve(String(fields?.["address"]));
      },
      warn: note,
      error: note,
    },
    observer: {
      serves: () => {},
      made: () => {},
      answered: ({ route, result }) => void answered.push(`${route} ${result}`),
    },
    waitsFor: (reason) => void waits.push(reason),
    ...more,
  });
  const running = webhook(mutators, end.signal);
  return {
    server,
    logged,
    waits,
    answered,
    serving: serving.promise,
    published: published.promise,
    async stop() {
      end.abort();
      await running;
    },
  };
}

Deno.test("connectWebhook() keeps its certificate in the Secret, and leads the Service here while it runs", async () => {
  const { server, logged, serving, published, waits, stop } = stage();
  const address = await serving;
  await published;
  const { data, metadata } = server.secret() as {
    readonly data: Readonly<Record<string, string>>;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  assert.partialDeepStrictEqual(metadata, { namespace: "mbcas-system", name: WEBHOOK_SECRET });
  const cert = atob(data["tls.crt"] ?? "");
  const reader = createCertificateReader();
  assert.deepEqual(reader.readPair({ cert, key: atob(data["tls.key"] ?? "") }).names, [
    SERVICE_NAME,
  ]);
  assert.ok(reader.signed(atob(data["ca.crt"] ?? ""), cert));
  const slice = {
    metadata: {
      namespace: "mbcas-system",
      name: "mbcas-webhook-ipv4",
      labels: {
        "kubernetes.io/service-name": "mbcas-webhook",
        "endpointslice.kubernetes.io/managed-by": "mbcas-controller",
      },
    },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true } }],
    ports: [{ name: "https", port: Number(address.split(":").at(-1)), protocol: "TCP" }],
  };
  assert.partialDeepStrictEqual(server.endpointSlice(), slice);
  assert.equal(waits.at(-1), undefined);
  await stop();
  assert.deepEqual(server.endpointSlice()?.["endpoints"], []);
  assert.match(waits.at(-1) ?? "", / ended$/);
  const [webhook] = server.configuration()["webhooks"] as readonly {
    readonly clientConfig: { readonly caBundle: string };
  }[];
  assert.equal(webhook?.clientConfig.caBundle, data["ca.crt"]);
  const text = logged.join("\n");
  for (const name of ["ca.key", "tls.key"]) {
    const key = atob(data[name] ?? "").split("\n")[1] ?? assert.fail(name);
    assert.ok(key.length > 20 && !text.includes(key.slice(0, 20)));
  }
  assert.doesNotMatch(text, /PRIVATE KEY|BEGIN/);
  await server[Symbol.asyncDispose]();
});

Deno.test("connectWebhook() asks its mutators about new pods, with the certificate of a folder", async () => {
  const folder = await Deno.makeTempDir();
  const { authority, serving: pair } = await certificateChain("theirs", systemClock.wall());
  await Deno.writeTextFile(`${folder}/tls.crt`, pair.cert);
  await Deno.writeTextFile(`${folder}/tls.key`, pair.key);
  const patch = [{ op: "add", path: "/metadata/labels", value: { seen: "yes" } }] as const;
  for (const webhookCertificates of ["cert-manager", "files"] as const) {
    const { server, serving, answered, logged, stop } = stage(
      { webhookCertificates, webhookFolder: folder, podIP: null },
      [{ name: "labels", mutate: () => ({ patch }) }],
    );
    {
      const address = await serving;
      const bundle = authority.cert;
      using client = createWebhookClient({ address, bundle, serverName: SERVICE_NAME });
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
    await stop();
    // Without an address there is no endpoint.
    assert.deepEqual(server.requests, []);
    assert.ok(logged.some((line) => line.includes("POD_IP")));
    await server[Symbol.asyncDispose]();
  }
  await Deno.remove(folder, { recursive: true });
});
