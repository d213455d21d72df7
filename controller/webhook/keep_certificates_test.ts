import fc from "fast-check";
import assert from "node:assert/strict";
import type { KeyedCertificate } from "../../adapters/webhook/certificates.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { silentLog } from "../../shared/log.ts";
import {
  createPaperCertificates,
  WEBHOOK_NAMES,
  type WebhookReplica,
  webhookScene,
} from "../../tests/fixtures/webhook/webhook_replica.ts";
import { storedTexts } from "./certificate_step.ts";
import { FILES_EVERY_MS, followFiles } from "./keep_certificates.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

Deno.test("keepCertificates() makes, stores, serves and has trusted what was not there", async () => {
  const { start, run, bundles, stored, objects } = webhookScene();
  const replica = start();
  await run(1000);
  assert.deepEqual(replica.used, [{ cert: stored("tls.crt"), key: stored("tls.key") }]);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.deepEqual(replica.made, ["authority"]);
  assert.deepEqual(replica.reported[0]?.names, ["mbcas-webhook.mbcas-system.svc"]);
  await run(DAY_MS);
  assert.deepEqual(objects.writes, ["create", "trust"]);
  assert.equal(replica.used.length, 1);
  await replica.stop();
});

/** The scene after a leader that has made all, and ended. */
async function begunScene() {
  const scene = webhookScene();
  const first = scene.start();
  await scene.run(1000);
  await first.stop();
  return { ...scene, first };
}

Deno.test("keepCertificates() takes up after a restart what is stored", async () => {
  const { start, run, objects, stored, first } = await begunScene();
  const second = start();
  await run(1000);
  assert.deepEqual(second.used, first.used);
  assert.deepEqual(second.made, []);
  assert.deepEqual(objects.writes, ["create", "trust"]);
  await second.stop();
  // The service has another name: the authority stays.
  const authority = stored("ca.crt");
  const third = start({ names: ["other.svc"] });
  await run(1000);
  assert.deepEqual(third.reported.at(-1)?.names, ["other.svc"]);
  assert.deepEqual([third.made, stored("ca.crt")], [["serving"], authority]);
  await third.stop();
});

Deno.test("keepCertificates() puts no old bundle back over that of the next leader", async () => {
  const { objects, paper, start, run, bundles, stored, count } = webhookScene();
  const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
  const authority = await paper.maker.makeAuthority({ name: "next", ...validity });
  const serving = await paper.maker.makeServing(authority, { names: WEBHOOK_NAMES, ...validity });
  let overtaking = false;
  const replica = start({
    store: {
      ...objects.store,
      // While the old Secret is on its way, the next leader writes all of the new.
      async read() {
        const old = await objects.store.read();
        if (overtaking) {
          overtaking = false;
          const data = storedTexts({ authority, serving });
          objects.secret = data;
          objects.bundles = [["a.mbcas.io", authority.cert], ["b.mbcas.io", authority.cert]];
        }
        return old;
      },
    },
  });
  await run(1000);
  assert.equal(count("trust"), 1);
  overtaking = true;
  await run(180_000);
  assert.equal(overtaking, false);
  assert.equal(count("trust"), 1);
  assert.equal(stored("ca.crt"), authority.cert);
  assert.deepEqual(bundles(), [authority.cert, authority.cert]);
  assert.equal(replica.used.at(-1)?.cert, serving.cert);
  await replica.stop();
});

Deno.test("keepCertificates() replaces a Secret that is of no use, and reports why without its texts", async () => {
  const { objects, start, run, stored, bundles, believed } = webhookScene();
  const replica = start();
  await run(1000);
  const before = { ...objects.secret };
  for (const wrong of [{}, { ...before, "tls.key": "secret" }, { ...before, "ca.crt": "<" }]) {
    objects.secret = wrong;
    await run(90_000);
    assert.notEqual(stored("ca.crt"), before["ca.crt"]);
    assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
    assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
    assert.ok(believed(replica));
  }
  const warned = replica.lines.filter((line) => line.startsWith("warn"));
  assert.equal(warned.length, 3);
  for (const line of warned) {
    assert.match(line, /^warn Unusable .*(ca|tls)\./);
  }
  assert.ok(!replica.lines.some((line) => /secret|key of/.test(line)));
  await replica.stop();
});

Deno.test("keepCertificates() begins anew when the Secret is deleted, and has the old authority forgotten", async () => {
  const { objects, start, run, stored, bundles } = webhookScene();
  const replica = start();
  await run(1000);
  const old = stored("ca.crt");
  objects.secret = undefined;
  while (stored("ca.crt") === "") await run(100);
  await run(100);
  // There is no use in what API servers shall no longer trust.
  assert.equal(replica.used.length, 2);
  await run(180_000);
  assert.notEqual(stored("ca.crt"), old);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
  await replica.stop();
});

Deno.test("keepCertificates() restores a bundle that another client has removed", async () => {
  const { objects, start, run, bundles, stored } = webhookScene();
  const replica = start();
  await run(1000);
  objects.bundles = [["a.mbcas.io", ""], ["b.mbcas.io", stored("ca.crt")]];
  await run(90_000);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  await replica.stop();
});

Deno.test("keepCertificates() serves without a configuration", async () => {
  const { objects, start, run, count } = webhookScene();
  objects.bundles = undefined;
  const replica = start();
  await run(1000);
  assert.deepEqual([replica.used.length, count("trust")], [1, 0]);
  await replica.stop();
});

Deno.test("keepCertificates() ends with one authority, however often leaders change", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(300_000), fc.boolean()), { minLength: 2, maxLength: 5 }),
      async (terms) => {
        const { start, run, bundles, stored, believed, paper } = webhookScene();
        const all: WebhookReplica[] = [];
        const replicas: WebhookReplica[] = [];
        for (const [leadsMs, stops] of [...terms, [180_000, false] as const]) {
          const replica = start();
          all.push(replica);
          await run(leadsMs);
          // One that was paused ends only after the next has begun.
          if (stops) await replica.stop();
          else replicas.push(replica);
        }
        for (const replica of replicas) {
          assert.ok(believed(replica));
          assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
        }
        assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
        assert.equal(paper.reader.readBundle(bundles()[0] ?? "").length, 1);
        assert.deepEqual(all.flatMap(({ made }) => made), ["authority"]);
        for (const replica of replicas) await replica.stop();
      },
    ),
  );
});

Deno.test("keepCertificates() has a new authority trusted before its certificate is served", async () => {
  const { objects, start, startAt, run, bundles, stored, believed, count } = await begunScene();
  const [old = ""] = bundles();
  const dueMs = 365 * DAY_MS * 2 / 3 - HOUR_MS;
  await (await startAt(dueMs - 120_000)).stop();
  // While trust can't be written, the old certificate is served.
  const trust = { ...objects.trust, write: () => Promise.reject(new RangeError("denied")) };
  const denied = start({ trust });
  await run(300_000);
  assert.notEqual(stored("ca.crt"), old);
  assert.deepEqual([denied.used.length, bundles()], [1, [old, old]]);
  assert.ok(believed(denied));
  await denied.stop();
  const replica = start();
  await run(1000);
  assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.ok(believed(replica));
  await run(300_000);
  assert.equal(count("trust"), 2);
  await replica.stop();
});

Deno.test("keepCertificates() serves on while the server refuses, reports so, and goes on afterwards", async () => {
  const { objects, startAt, run, stored } = await begunScene();
  const replica = await startAt(60 * DAY_MS - 2 * HOUR_MS);
  objects.refuse(403);
  await run(2 * HOUR_MS);
  assert.equal(replica.used.length, 1);
  assert.ok(replica.lines.some((line) => /^warn .* 403/.test(line)));
  objects.refuse(0);
  await run(180_000);
  assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
  assert.equal(replica.used.length, 2);
  await replica.stop();
});

Deno.test("keepCertificates() serves what is renewed though nothing can be said of trust", async () => {
  const { objects, start, startAt, run } = await begunScene();
  await (await startAt(60 * DAY_MS - 2 * HOUR_MS)).stop();
  const denied = { ...objects.trust, write: () => Promise.reject(new RangeError("denied")) };
  objects.bundles = [["a.mbcas.io", "lost"]];
  const replica = start({ trust: denied });
  await run(2 * HOUR_MS);
  assert.equal(replica.used.length, 2);
  assert.ok(replica.lines.some((line) => line.includes("denied")));
  await replica.stop();
});

Deno.test("keepCertificates() does not wait for trust where its certificate has expired", async () => {
  const { clock, objects, paper, start, run, count, bundles, stored } = webhookScene();
  const endingAt = (ms: number) => ({ notBeforeMs: clock.wall(), notAfterMs: clock.wall() + ms });
  const authority = await paper.maker.makeAuthority({ name: "short", ...endingAt(2 * HOUR_MS) });
  const serving = await paper.maker.makeServing(authority, {
    names: WEBHOOK_NAMES,
    ...endingAt(HOUR_MS),
  });
  objects.secret = storedTexts({ authority, serving });
  const replica = start();
  await run(1000);
  assert.equal(replica.used[0]?.cert, serving.cert);
  // Both are due to be renewed, and only the server's certificate has ended.
  objects.refuse(503);
  await run(1.5 * HOUR_MS);
  objects.refuse(0);
  while (count("replace") === 0) await run(100);
  await run(100);
  assert.equal(replica.used.length, 2);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  await replica.stop();
});

const VALIDITY = { notBeforeMs: 0, notAfterMs: Date.UTC(2026, 3, 1) };

async function scene() {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const { maker, reader } = createPaperCertificates();
  const authority = await maker.makeAuthority({ name: "theirs", ...VALIDITY });
  const used: KeyedCertificate[] = [];
  const ends: number[] = [];
  const warned: string[] = [];
  const files: { now: KeyedCertificate | Error } = { now: new Error("Cannot read /c/tls.crt: no") };
  const end = new AbortController();
  const running = followFiles({
    readFiles: () =>
      files.now instanceof Error ? Promise.reject(files.now) : Promise.resolve(files.now),
    reader,
    observer: { serves: ({ notAfterMs }) => ends.push(notAfterMs) },
    clock,
    log: { ...silentLog, warn: (_message, fields = {}) => warned.push(String(fields["error"])) },
    use: (pair) => void used.push(pair),
  }, end.signal);
  return {
    used,
    ends,
    warned,
    files,
    makePair: () => maker.makeServing(authority, { names: ["a.svc"], ...VALIDITY }),
    look: () => clock.runUntil(clock.monotonic() + FILES_EVERY_MS),
    async stop() {
      end.abort();
      await running;
    },
  };
}

Deno.test("followFiles() serves what is there, and what comes after it, each once", async () => {
  const { files, makePair, look, used, ends, warned, stop } = await scene();
  const [one, two] = [await makePair(), await makePair()];
  files.now = one;
  for (let times = 0; times < 3; times++) await look();
  assert.deepEqual(used, [one]);
  files.now = two;
  for (let times = 0; times < 3; times++) await look();
  assert.deepEqual(used, [one, two]);
  assert.deepEqual(ends, [VALIDITY.notAfterMs, VALIDITY.notAfterMs]);
  assert.ok(warned.length <= 1);
  await stop();
});

Deno.test("followFiles() serves on while the files are of no use, and reports each fault once", async () => {
  const { files, makePair, look, used, warned, stop } = await scene();
  await look();
  await look();
  assert.deepEqual(warned, ["Error: Cannot read /c/tls.crt: no"]);
  const [one, two] = [await makePair(), await makePair()];
  files.now = one;
  await look();
  // One of two files is new already, then the other one as well.
  files.now = { cert: two.cert, key: one.key };
  await look();
  await look();
  assert.deepEqual(used, [one]);
  assert.equal(warned.length, 2);
  files.now = two;
  await look();
  assert.deepEqual(used, [one, two]);
  files.now = new Error("Cannot read /c/tls.crt: no");
  await look();
  assert.deepEqual([used.length, warned.length], [2, 3]);
  assert.ok(!warned.join().includes("key of"));
  await stop();
});
