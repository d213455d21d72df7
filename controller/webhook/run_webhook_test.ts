import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import { admissionRoutes } from "../../adapters/webhook/admission_routes.ts";
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import { serveWebhook } from "../../adapters/webhook/webhook_server.ts";
import { silentLog } from "../../shared/log.ts";
import { assertMatches } from "../../tests/fixtures/assert_matches.ts";
import { createSteppedClock } from "../../tests/fixtures/webhook/stepped_clock.ts";
import { createWebhookClient } from "../../tests/fixtures/webhook/webhook_client.ts";
import { createWebhookObjects } from "../../tests/fixtures/webhook/webhook_objects.ts";
import { keepCertificates, SETTLE_MS } from "./keep_certificates.ts";
import type { KeyedCertificate } from "./ports.ts";
import { runWebhook } from "./run_webhook.ts";

const DAY_MS = 86_400_000;
const SERVICE = "mbcas-webhook.mbcas-system.svc";
const REVIEW = JSON.stringify({
  apiVersion: "admission.k8s.io/v1",
  kind: "AdmissionReview",
  request: {
    uid: "u1",
    kind: { kind: "Pod" },
    resource: { resource: "pods" },
    operation: "CREATE",
    object: { spec: {} },
  },
});

Deno.test("runWebhook() renews certificate and authority without one review that fails", async () => {
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
    routes: {
      "/mutate/pods": [{
        name: "labels",
        mutate: () => ({ patch: [{ op: "add", path: "/spec/a", value: 1 }] }),
      }],
    },
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
        names: [SERVICE],
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
      const bundle = objects.configuration?.bundles[0]?.[1] ?? "";
      using client = createWebhookClient({ address, bundle, serverName: SERVICE });
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
  clock.set(nowMs);
  await clock.step(60_000);
  const trusted = createCertificateReader().readBundle(
    objects.configuration?.bundles[0]?.[1] ?? "",
  );
  assert.equal(trusted.length, 2);
  await load(() => true);
  assert.equal(new Set(authorities).size, 1);
  await clock.step(SETTLE_MS);
  over = true;
  await Promise.all(loads);
  await load(() => true);
  assert.equal(new Set(authorities).size, 2);
  assert.deepEqual(objects.writes.map(([what]) => what), [
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
