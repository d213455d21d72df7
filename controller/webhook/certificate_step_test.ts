import assert from "node:assert/strict";
import { Registry } from "prom-client";
import type { Validity } from "../../adapters/webhook/certificates.ts";
import { createSimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import { controllerPorts } from "../../tests/fixtures/controller_ports.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { effectiveSettings } from "../../shared/config/load.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import { createPaperCertificates } from "../../tests/fixtures/webhook/webhook_replica.ts";
import {
  AUTHORITY_LIFE_MS,
  certificateStep,
  lifeFrom,
  readStoredPairs,
  SERVING_LIFE_MS,
  type StoredPairs,
  storedTexts,
} from "./certificate_step.ts";
import { endpointSpec, keepEndpoint, REPAIR_EVERY_MS } from "./keep_endpoint.ts";
import { createWebhookMetrics } from "./metrics.ts";
import type { StoredTexts } from "../../shared/admission/ports.ts";
import { WEBHOOK_SETTINGS } from "./settings.ts";
import { endpointSliceName } from "./webhook_objects.ts";

const DAY_MS = 86_400_000;
const START_MS = Date.UTC(2026, 0, 1);
const NAMES = ["mbcas-webhook.mbcas-system.svc"];

function pairs(authority: Validity, serving: Validity, names = NAMES): StoredPairs {
  return {
    authority: { cert: "ca", key: "k", names: [], authority: true, ...authority },
    serving: { cert: "tls", key: "k", names, authority: false, ...serving },
  };
}

const LONG = lifeFrom(START_MS, AUTHORITY_LIFE_MS);
const SHORT = lifeFrom(START_MS, SERVING_LIFE_MS);

/** The certificate to make so long after the start, and why. */
function step(stored: StoredPairs | { readonly fault: string } | undefined, afterMs = 0): string {
  const next = certificateStep(stored, { names: NAMES, nowMs: START_MS + afterMs });
  return next === undefined ? "nothing" : `${next.make}: ${next.why}`;
}

pure("certificateStep() renews what is unusable, or past two thirds of its life", () => {
  const stored = pairs(LONG, SHORT);
  // 60 days from its beginning, which is set back by an hour.
  const servingMs = 60 * DAY_MS - 3_600_000;
  const authorityMs = 365 * DAY_MS * 2 / 3 - 3_600_000;
  const later = pairs(LONG, lifeFrom(START_MS + authorityMs - DAY_MS, SERVING_LIFE_MS));
  const rows: readonly (readonly [string, Parameters<typeof step>[0], number?])[] = [
    ["authority: there are none yet", undefined],
    ["authority: ca.crt: unreadable", { fault: "ca.crt: unreadable" }],
    ["nothing", stored, servingMs - 1],
    ["serving: the certificate ends at 2026-03-31T23:00:00.000Z", stored, servingMs],
    ["serving: the certificate ended at 2026-03-31T23:00:00.000Z", stored, 91 * DAY_MS],
    ["nothing", later, authorityMs - 1000],
    ["authority: the authority ends at 2026-12-31T23:00:00.000Z", later, authorityMs],
    [`serving: the certificate is not for ${NAMES[0]}`, pairs(LONG, SHORT, ["old.svc"])],
    ["nothing", pairs(LONG, SHORT, ["old.svc", ...NAMES])],
    // One that begins a little later by another's clock.
    ["nothing", stored, -2 * 3_600_000],
  ];
  for (const [expected, pair, afterMs] of rows) assert.equal(step(pair, afterMs), expected);
});

const VALIDITY = { notBeforeMs: 0, notAfterMs: 1000 };

async function stored() {
  const { maker, reader } = createPaperCertificates();
  const [old, authority] = [
    await maker.makeAuthority({ name: "old", ...VALIDITY }),
    await maker.makeAuthority({ name: "new", ...VALIDITY }),
  ];
  const serving = await maker.makeServing(authority, { names: NAMES, ...VALIDITY });
  const data = storedTexts({ authority, serving });
  return { reader, old, authority, serving, data };
}

Deno.test("readStoredPairs() reads what storedTexts() wrote", async () => {
  const { reader, authority, serving, data } = await stored();
  const details = { ...VALIDITY, names: [], authority: true };
  assert.deepEqual(readStoredPairs(data, reader), {
    authority: { ...authority, ...details },
    serving: { ...serving, ...VALIDITY, names: NAMES, authority: false },
  });
  const names = ["ca.crt", "ca.key", "tls.crt", "tls.key"];
  assert.deepEqual(Object.keys(data).sort(), names);
});

Deno.test("readStoredPairs() says which text is of no use, and repeats nothing of it", async () => {
  const { reader, old, serving, data } = await stored();
  const wrong: readonly (readonly [StoredTexts, RegExp])[] = [
    [{}, /^ca\.crt and ca\.key: Cannot /],
    [{ ...data, "ca.key": "secret" }, /^ca\.crt and ca\.key: Cannot /],
    [{ ...data, "ca.crt": "secret" }, /^ca\.crt and ca\.key: Cannot /],
    [
      { ...data, "ca.crt": serving.cert, "ca.key": serving.key },
      /^ca\.crt: it may not sign others$/,
    ],
    [{ ...data, "tls.key": data["ca.key"] ?? "" }, /^tls\.crt and tls\.key: Cannot /],
    [{ ...data, "ca.crt": old.cert, "ca.key": old.key }, /^tls\.crt: it is not signed by ca\.crt$/],
  ];
  for (const [texts, message] of wrong) {
    const read = readStoredPairs(texts, reader);
    assert.match("fault" in read ? read.fault : "no fault", message);
    assert.ok("fault" in read && !/secret|key of/.test(read.fault));
  }
});

Deno.test("readStoredPairs() passes on what is a fault of the program", async () => {
  const { reader, data } = await stored();
  const broken = {
    ...reader,
    signed() {
      throw new RangeError("bug");
    },
  };
  assert.throws(() => readStoredPairs(data, broken), RangeError);
});

const NAMESPACE = "mbcas-system";
const KEY = `${NAMESPACE}/mbcas-webhook-ipv4`;

function stage() {
  const clock = createVirtualClock({ wallStart: 0 });
  const api = createSimulatedAPI({ clock, random: seededRandom(1) });
  const { EndpointSlice: slices } = api.store.tables;
  const warned: string[] = [];
  const log = { ...silentLog, warn: (message: string) => void warned.push(message) };

  function lead(address: string) {
    const end = new AbortController();
    const store = controllerPorts(api).endpointSliceStore({
      namespace: NAMESPACE,
      name: endpointSliceName(address),
    });
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
    api,
    slices,
    warned,
    lead,
    run: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    addresses: () => slices.get(KEY)?.endpoints.flatMap(({ addresses }) => addresses),
  };
}

Deno.test("keepEndpoint() writes one ready endpoint, and takes it out at its end", async () => {
  const { slices, lead, run, addresses, api } = stage();
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
  assert.deepEqual(
    ["create EndpointSlice", "update EndpointSlice"].map((one) => api.requests.get(one) ?? 0),
    [1, 0],
  );
  await leader.stop();
  assert.deepEqual(addresses(), []);
});

Deno.test("keepEndpoint() takes over from the leader before, and repairs what others change", async () => {
  const { slices, lead, run, addresses } = stage();
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
  await next.stop();
});

Deno.test("keepEndpoint() leaves the endpoint of the next leader at its end", async () => {
  const { lead, run, addresses } = stage();
  const old = lead("10.0.0.1");
  await run(REPAIR_EVERY_MS + 1000);
  const next = lead("10.0.0.2");
  await run(100);
  await old.stop();
  assert.deepEqual(addresses(), ["10.0.0.2"]);
  await next.stop();
});

Deno.test("keepEndpoint() tries again after failures, at its end once", async () => {
  const { api, lead, run, addresses, warned } = stage();
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

Deno.test("createWebhookMetrics() counts requests by route, operation and result", async () => {
  const registry = new Registry();
  const { answered } = createWebhookMetrics(registry);
  const route = "/mutate/pods";
  answered({ route, operation: "CREATE", result: "patched", tookMs: 4 });
  answered({ route, operation: "CREATE", result: "patched", tookMs: 400 });
  answered({ route, operation: "", result: "malformed", tookMs: 1 });
  const text = await registry.metrics();
  const name = "mbcas_webhook_requests_total";
  assert.ok(text.includes(`${name}{route="${route}",operation="CREATE",result="patched"} 2\n`));
  assert.ok(text.includes(`${name}{route="${route}",operation="",result="malformed"} 1\n`));
  const bucket = "mbcas_webhook_request_duration_seconds_bucket";
  assert.ok(text.includes(`${bucket}{le="0.2",route="${route}"} 2\n`), text);
  assert.ok(text.includes(`${bucket}{le="0.5",route="${route}"} 3\n`));
});

Deno.test("createWebhookMetrics() reports when the certificate ends, and which were made", async () => {
  const registry = new Registry();
  const { serves, made } = createWebhookMetrics(registry);
  const end = "mbcas_webhook_certificate_end_timestamp_seconds";
  assert.ok((await registry.metrics()).includes(`${end} 0\n`));
  serves({ notBeforeMs: 0, notAfterMs: 90_000, names: [], authority: false });
  made("authority");
  const text = await registry.metrics();
  assert.ok(text.includes(`${end} 90\n`));
  assert.ok(text.includes(`mbcas_webhook_certificates_made_total{made="authority"} 1\n`));
});

function settle(file: string) {
  return effectiveSettings(WEBHOOK_SETTINGS, { file: { path: "config.yaml", text: file } });
}

Deno.test("WEBHOOK_SETTINGS are off by default, and whole where nothing is said", () => {
  const read = settle("");
  assert.ok("values" in read);
  assert.deepEqual(read.values, {
    webhook: false,
    webhookListen: ":9443",
    webhookCertificates: "self",
    webhookFolder: "/etc/mbcas-webhook",
    webhookService: "mbcas-webhook",
  });
});

Deno.test("WEBHOOK_SETTINGS name what does not fit", () => {
  const read = settle(
    "webhook:\n  certificates: vault\n  serviceName: Web_Hook\n  listen: all\n  ports: 1\n",
  );
  assert.ok("faults" in read);
  const faults = read.faults.join("\n");
  for (const name of ["certificates", "serviceName", "listen", "ports"]) {
    assert.match(faults, new RegExp(`webhook\\.${name}`));
  }
  assert.match(faults, /self, cert-manager, files/);
});
