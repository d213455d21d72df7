import assert from "node:assert/strict";
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import { silentLog } from "../../shared/log.ts";
import { seededRandom } from "../../shared/random.ts";
import { serveWebhookObjects } from "../../tests/fixtures/canned_webhook_objects.ts";
import { createSteppedClock } from "../../tests/fixtures/stepped_clock.ts";
import { certificateSource, type CertificateSourceOptions } from "./certificate_source.ts";
import type { KeyedCertificate } from "./ports.ts";
import { WEBHOOK_CONFIGURATION } from "./webhook_names.ts";

const NOW_MS = Date.UTC(2026, 0, 1);
const SERVICE = "mbcas-webhook.mbcas-system.svc";

function options() {
  const logged: string[] = [];
  const note = (message: string, fields = {}) =>
    void logged.push(`${message} ${JSON.stringify(fields)}`);
  const given: CertificateSourceOptions = {
    webhookCertificates: "self",
    webhookFolder: "/none",
    webhookService: "mbcas-webhook",
    namespace: "mbcas-system",
    clock: createSteppedClock(NOW_MS),
    random: seededRandom(1),
    log: { debug: note, info: note, warn: note, error: note },
    observer: { serves: () => {}, made: () => {} },
  };
  return { given, logged };
}

Deno.test("certificateSource() keeps its own in the Secret, and no key in the log", async () => {
  await using server = serveWebhookObjects({
    name: WEBHOOK_CONFIGURATION,
    webhooks: ["pods.mbcas.io"],
  });
  const { given, logged } = options();
  const replicas = [1, 2].map((seed) => {
    const clock = createSteppedClock(NOW_MS);
    const used: KeyedCertificate[] = [];
    const end = new AbortController();
    const source = certificateSource(server.connection, {
      ...given,
      clock,
      random: seededRandom(seed),
    });
    const running = source((pair) => Promise.resolve(void used.push(pair)), end.signal);
    return { clock, used, end, running };
  });
  await Promise.all(replicas.map(({ clock }) => clock.asleep));
  // Whoever was slower has seen that it was, and looks again.
  for (const { clock } of replicas) await clock.step(200);
  const [one, two] = replicas.map(({ used }) => used.at(-1) ?? assert.fail("nothing is served"));
  assert.deepEqual(one, two);
  const reader = createCertificateReader();
  assert.deepEqual(reader.readPair(one!).names, [SERVICE]);
  const { data, metadata } = server.secret() as {
    readonly data: Readonly<Record<string, string>>;
    readonly metadata: Readonly<Record<string, unknown>>;
  };
  assert.partialDeepStrictEqual(metadata, {
    namespace: "mbcas-system",
    name: "mbcas-webhook-certificates",
  });
  const [webhook] = server.configuration()["webhooks"] as readonly {
    readonly clientConfig: { readonly caBundle: string };
  }[];
  assert.equal(webhook?.clientConfig.caBundle, data["ca.crt"]);
  assert.ok(reader.signed(atob(data["ca.crt"] ?? ""), one!.cert));
  for (const { end, running } of replicas) {
    end.abort();
    await running;
  }
  const text = logged.join("\n");
  assert.match(text, /Certificate made/);
  for (const name of ["ca.key", "tls.key"]) {
    const key = atob(data[name] ?? "").split("\n")[1] ?? assert.fail(name);
    assert.ok(key.length > 20 && !text.includes(key.slice(0, 20)));
  }
  assert.doesNotMatch(text, /PRIVATE KEY|BEGIN/);
});

Deno.test("certificateSource() reads a folder for cert-manager and files, and asks no server", async () => {
  const folder = await Deno.makeTempDir();
  const life = { notBeforeMs: NOW_MS, notAfterMs: NOW_MS + 86_400_000 };
  const maker = createCertificateMaker();
  const authority = await maker.makeAuthority({ name: "theirs", ...life });
  const pair = await maker.makeServing(authority, { names: [SERVICE], ...life });
  await Deno.writeTextFile(`${folder}/tls.crt`, pair.cert);
  await Deno.writeTextFile(`${folder}/tls.key`, pair.key);
  await Deno.writeTextFile(`${folder}/ca.crt`, authority.cert);
  await using server = serveWebhookObjects({ name: WEBHOOK_CONFIGURATION, webhooks: [] });
  for (const webhookCertificates of ["cert-manager", "files"] as const) {
    const { given } = options();
    const clock = createSteppedClock(NOW_MS);
    const used: KeyedCertificate[] = [];
    const believed: string[] = [];
    const end = new AbortController();
    const source = certificateSource(server.connection, {
      ...given,
      believe: (authorities) => void believed.push(authorities),
      clock,
      log: silentLog,
      webhookCertificates,
      webhookFolder: folder,
    });
    const running = source((next) => Promise.resolve(void used.push(next)), end.signal);
    await clock.asleep;
    assert.deepEqual([used, believed], [[pair], [authority.cert]]);
    end.abort();
    await running;
  }
  assert.deepEqual(server.requests, []);
  await Deno.remove(folder, { recursive: true });
});
