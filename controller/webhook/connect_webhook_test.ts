import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import {
  createCertificateReader,
  type KeyedCertificate,
} from "../../adapters/webhook/certificates.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { Mutator } from "../../shared/admission/run_mutators.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { controllerPorts } from "../../tests/fixtures/controller_ports.ts";
import {
  certificateChain,
  createWebhookClient,
  SERVICE_NAME,
} from "../../tests/fixtures/webhook/webhook_client.ts";
import { serveWebhookObjects } from "../../tests/fixtures/webhook/webhook_objects.ts";
import { type ConnectedWebhookOptions, connectWebhook, runWebhook } from "./connect_webhook.ts";
import { endpointSpec, keepEndpoint, REPAIR_EVERY_MS } from "./keep_endpoint.ts";
import { endpointSliceName, WEBHOOK_CONFIGURATION, WEBHOOK_SECRET } from "./webhook_objects.ts";

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

function stage(more: Partial<ConnectedWebhookOptions> = {}, mutators: readonly Mutator[] = []) {
  const server = serveWebhookObjects({ name: WEBHOOK_CONFIGURATION, webhooks: ["pods.mbcas.io"] });
  const logged: string[] = [];
  const waits: (string | undefined)[] = [];
  const answered: string[] = [];
  const serving = Promise.withResolvers<string>();
  const published = Promise.withResolvers<void>();
  const note = (message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    logged.push(`${message} ${JSON.stringify(fields)}`);
    if (/endpoint/i.test(message)) published.resolve();
    if (message === "Webhook serving") serving.resolve(String(fields["address"]));
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
    log: { debug: note, info: note, warn: note, error: note },
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
    ...{ server, logged, waits, answered },
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
  const { names } = reader.readPair({ cert, key: atob(data["tls.key"] ?? "") });
  assert.deepEqual(names, [SERVICE_NAME]);
  assert.ok(reader.signed(atob(data["ca.crt"] ?? ""), cert));
  assert.partialDeepStrictEqual(server.endpointSlice(), {
    metadata: { namespace: "mbcas-system", name: "mbcas-webhook-ipv4" },
    endpoints: [{ addresses: ["10.0.0.7"], conditions: { ready: true } }],
    ports: [{ port: Number(address.split(":").at(-1)) }],
  });
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

const ROUTES = ["/mutate/pods", "/mutate/workloads", "/mutate"];

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
      // For pods, for workloads, and the path of Spotalis.
      for (const path of ROUTES) {
        const { status, text } = await client.post(REVIEW, path);
        assert.equal(status, 200);
        assert.deepEqual(JSON.parse(atob(JSON.parse(text).response.patch)), patch);
      }
      assert.equal((await client.post(REVIEW, "/mutate/nodes")).status, 404);
    }
    assert.deepEqual(answered, ROUTES.map((one) => `${one} patched`));
    await stop();
    // Without an address there is no endpoint.
    assert.deepEqual(server.requests, []);
    assert.ok(logged.some((line) => line.includes("POD_IP")));
    await server[Symbol.asyncDispose]();
  }
  await Deno.remove(folder, { recursive: true });
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

const NAMESPACE = "mbcas-system";
const KEY = `${NAMESPACE}/mbcas-webhook-ipv4`;

function endpointStage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const { EndpointSlice: slices } = api.store.tables;
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };

  function lead(address: string) {
    const end = new AbortController();
    const name = endpointSliceName(address);
    const store = controllerPorts(api).endpointSliceStore({ namespace: NAMESPACE, name });
    const spec = endpointSpec("mbcas-webhook", { address, port: 9443 });
    const running = keepEndpoint({ store, spec, clock, log }, end.signal);
    return {
      async stop() {
        end.abort();
        await clock.runUntil(clock.monotonic() + 100);
        await running;
      },
    };
  }

  return {
    ...{ api, slices, warned, lead },
    run: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    addresses: () => slices.get(KEY)?.endpoints.flatMap(({ addresses }) => addresses),
  };
}

Deno.test("keepEndpoint() writes one ready endpoint, and takes it out at its end", async () => {
  const { slices, lead, run, addresses, api } = endpointStage();
  const leader = lead("10.0.0.1");
  await run(100);
  const { metadata: _metadata, ...spec } = slices.get(KEY)!;
  assert.deepEqual(spec, {
    service: "mbcas-webhook",
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], ready: true }],
    ports: [{ name: "https", port: 9443 }],
  });
  await run(60_000);
  const writes = ["create", "update"].map((verb) => api.requests.get(`${verb} EndpointSlice`));
  assert.deepEqual(writes, [1, undefined]);
  await leader.stop();
  assert.deepEqual(addresses(), []);
});

Deno.test("keepEndpoint() takes over from the leader before, and repairs what others change", async () => {
  const { slices, lead, run, addresses } = endpointStage();
  const old = lead("10.0.0.1");
  await run(1000);
  await old.stop();
  const next = lead("10.0.0.2");
  await run(100);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  slices.modify(KEY, (slice) => ({ ...slice, endpoints: [] }));
  await run(REPAIR_EVERY_MS);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  slices.modify(KEY, (slice) => ({ ...slice, service: "other" }));
  await run(REPAIR_EVERY_MS);
  assert.equal(slices.get(KEY)?.service, "mbcas-webhook");
  slices.remove(KEY);
  await run(REPAIR_EVERY_MS);
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  // It leaves the endpoint of the next leader at its end.
  const last = lead("10.0.0.3");
  await run(100);
  await next.stop();
  assert.deepEqual(addresses(), ["10.0.0.3"]);
  await last.stop();
});

Deno.test("keepEndpoint() tries again after failures, at its end once", async () => {
  const { api, lead, run, addresses, warned } = endpointStage();
  api.failNext({ verb: "create", kind: "EndpointSlice", status: 403, times: 2 });
  const leader = lead("10.0.0.1");
  await run(2000);
  assert.equal(addresses(), undefined);
  await run(REPAIR_EVERY_MS);
  assert.deepEqual([addresses(), warned.length], [["10.0.0.1"], 2]);
  api.failNext({ verb: "get", kind: "EndpointSlice", status: 503 });
  await leader.stop();
  assert.deepEqual([addresses(), warned.length], [["10.0.0.1"], 3]);
});

Deno.test("endpointSpec() and endpointSliceName() go by the family of the address", () => {
  const { addressType, endpoints } = endpointSpec("web", { address: "fd00::2", port: 9443 });
  assert.deepEqual([addressType, endpoints[0]?.addresses], ["IPv6", ["fd00::2"]]);
  assert.equal(endpointSliceName("fd00::2"), "mbcas-webhook-ipv6");
});
