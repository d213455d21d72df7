import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import {
  createCertificateMaker,
  createCertificateReader,
  type KeyedCertificate,
} from "../../adapters/webhook/certificates.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import {
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
} from "../../tests/fixtures/webhook/webhook_client.ts";
import { type ConnectedWebhookOptions, connectWebhook, runWebhook } from "./connect_webhook.ts";
import { WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_objects.ts";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import { silentLog } from "../../shared/log.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { createSteppedClock } from "../../tests/fixtures/webhook/webhook_replica.ts";
import {
  createWebhookObjects,
  serveWebhookObjects,
} from "../../tests/fixtures/webhook/webhook_objects.ts";
import { keepCertificates } from "./keep_certificates.ts";

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
      // The path for workloads, and the one of Spotalis.
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

const DAY_MS = 86_400_000;

Deno.test("runWebhook() renews its certificate without one review that fails, and its authority", async () => {
  // Clients go by the real time: the authority is made so long ago that it is due to be renewed now.
  const nowMs = Date.now();
  const clock = createSteppedClock(nowMs - 250 * DAY_MS);
  const objects = createWebhookObjects({
    clock: { ...systemClock, sleep: () => Promise.resolve() },
  });
  const end = new AbortController();
  const listening = Promise.withResolvers<string>();
  const waits: (string | undefined)[] = [];
  const app = admissionRoutes({
    routes: ["/mutate/pods"],
    mutators: [{
      name: "labels",
      mutate: () => ({ patch: [{ op: "add", path: "/metadata/a", value: 1 }] }),
    }],
    clock: systemClock,
    log: silentLog,
    observer: { answered: () => {} },
  });
  const running = runWebhook({
    log: silentLog,
    async listen(certificate) {
      const server = await serveWebhook(app, { address: "127.0.0.1:0", certificate });
      listening.resolve(server.address);
      return server;
    },
    certificates: (use, signal) =>
      keepCertificates({
        store: objects.store,
        trust: objects.trust,
        maker: createCertificateMaker(),
        reader: createCertificateReader(),
        observer: { serves: () => {}, made: () => {} },
        clock,
        log: silentLog,
        names: [SERVICE_NAME],
        use,
      }, signal),
    publish: () => Promise.resolve(),
    waitsFor: (reason) => waits.push(reason),
  }, end.signal);
  const address = await listening.promise;
  await clock.asleep;

  // The first certificate has ended long ago by the real time; its successor has not.
  clock.set(nowMs - 88 * DAY_MS);
  await clock.step(60_000);

  const authorities: string[] = [];
  const load = async (until: () => boolean): Promise<void> => {
    do {
      // As an API server does: a connection trusts the bundle of the moment when it is opened.
      const bundle = objects.bundles?.[0]?.[1] ?? "";
      using client = createWebhookClient({ address, bundle, serverName: SERVICE_NAME });
      for (let request = 0; request < 5; request++) {
        const { status, text, authority } = await client.post(REVIEW, "/mutate/pods");
        assert.equal(status, 200);
        assert.equal(JSON.parse(text).response.patchType, "JSONPatch");
        authorities.push(authority);
      }
    } while (!until());
  };
  let over = false;
  const loads = [load(() => over), load(() => over)];
  // Now the certificate is due to be renewed, and then the authority.
  clock.set(nowMs - 20 * DAY_MS);
  await clock.step(60_000);
  await load(() => true);
  over = true;
  await Promise.all(loads);
  assert.equal(new Set(authorities).size, 1);
  clock.set(nowMs);
  await clock.step(60_000);
  await load(() => true);
  assert.equal(new Set(authorities).size, 2);
  assert.deepEqual(objects.writes, [
    ...["create", "trust"],
    ...["replace", "replace", "replace", "trust"],
  ]);
  end.abort();
  await running;
  assertMatches(waits.map((reason) => reason ?? "ready"), [/certificate/, /^ready$/, /ended$/]);
});

Deno.test("runWebhook() ends before there is a certificate, and passes on what fails", async () => {
  const waits: string[] = [];
  const parts = {
    log: silentLog,
    listen: () => assert.fail("there is nothing to listen with"),
    publish: () => assert.fail("there is nothing to publish"),
    waitsFor: (reason: string | undefined) => void waits.push(reason ?? "ready"),
  };
  await runWebhook({ ...parts, certificates: () => Promise.resolve() }, AbortSignal.abort());
  assertMatches(waits, [/certificate/, /ended$/]);
  const broken = { ...parts, certificates: () => Promise.reject(new RangeError("bug")) };
  await assert.rejects(runWebhook(broken, AbortSignal.abort()), RangeError);
});

Deno.test("runWebhook() listens once, is ready only while it does, and leads API servers there", async () => {
  const events: string[] = [];
  const pair = (name: string): KeyedCertificate => ({ cert: name, key: "k" });
  await runWebhook({
    log: silentLog,
    listen({ cert }) {
      events.push(`listen ${cert}`);
      return Promise.resolve({
        address: ":9443",
        useCertificate: ({ cert }) => void events.push(`use ${cert}`),
        shutdown: () => Promise.resolve(void events.push("shutdown")),
      });
    },
    async certificates(use) {
      for (const name of ["one", "two", "three"]) await use(pair(name));
    },
    publish(address, signal) {
      events.push(`publish ${address}`);
      return new Promise((resolve) => {
        signal.addEventListener("abort", () => {
          events.push("withdraw");
          resolve();
        }, { once: true });
      });
    },
    waitsFor: (reason) => events.push(reason ?? "ready"),
  }, new AbortController().signal);
  assertMatches(events, [
    /certificate/,
    /^listen one$/,
    /^ready$/,
    /^publish :9443$/,
    /^use two$/,
    /^use three$/,
    /ended$/,
    /^withdraw$/,
    /^shutdown$/,
  ]);
});
