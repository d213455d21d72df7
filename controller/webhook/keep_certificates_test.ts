import fc from "fast-check";
import assert from "node:assert/strict";
import type { KeyedCertificate, Validity } from "../../adapters/webhook/certificates.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import type { StoredTexts } from "../../shared/admission/ports.ts";
import { silentLog } from "../../shared/log.ts";
import { pure } from "../../tests/fixtures/pure.ts";
import {
  createPaperCertificates,
  WEBHOOK_NAMES,
  type WebhookReplica,
  webhookScene,
} from "../../tests/fixtures/webhook/webhook_replica.ts";
import {
  AUTHORITY_LIFE_MS,
  certificateStep,
  lifeFrom,
  readStoredPairs,
  SERVING_LIFE_MS,
  type StoredPairs,
  storedTexts,
} from "./certificate_step.ts";
import { FILES_EVERY_MS, followFiles } from "./keep_certificates.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const START_MS = Date.UTC(2026, 0, 1);

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

Deno.test("keepCertificates() restores a bundle, and serves without a configuration", async () => {
  const { objects, start, run, bundles, stored, count } = webhookScene();
  objects.bundles = undefined;
  const replica = start();
  await run(1000);
  assert.deepEqual([replica.used.length, count("trust")], [1, 0]);
  objects.bundles = [["a.mbcas.io", ""], ["b.mbcas.io", stored("ca.crt")]];
  await run(90_000);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
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

function pairs(authority: Validity, serving: Validity, names = WEBHOOK_NAMES): StoredPairs {
  return {
    authority: { cert: "ca", key: "k", names: [], authority: true, ...authority },
    serving: { cert: "tls", key: "k", names, authority: false, ...serving },
  };
}

const LONG = lifeFrom(START_MS, AUTHORITY_LIFE_MS);
const SHORT = lifeFrom(START_MS, SERVING_LIFE_MS);

/** The certificate to make so long after the start, and the end of the reason. */
function step(stored: StoredPairs | { readonly fault: string } | undefined, afterMs = 0): string {
  const next = certificateStep(stored, { names: WEBHOOK_NAMES, nowMs: START_MS + afterMs });
  return next === undefined ? "nothing" : `${next.make} ${next.why.split(" ").at(-1)}`;
}

pure("certificateStep() renews what is unusable, or past two thirds of its life", () => {
  const stored = pairs(LONG, SHORT);
  // 60 days from its beginning, which is set back by an hour.
  const servingMs = 60 * DAY_MS - HOUR_MS;
  const authorityMs = 365 * DAY_MS * 2 / 3 - HOUR_MS;
  const later = pairs(LONG, lifeFrom(START_MS + authorityMs - DAY_MS, SERVING_LIFE_MS));
  const rows: readonly (readonly [string, Parameters<typeof step>[0], number?])[] = [
    ["authority yet", undefined],
    ["authority unreadable", { fault: "ca.crt: unreadable" }],
    ["nothing", stored, servingMs - 1],
    ["serving 2026-03-31T23:00:00.000Z", stored, servingMs],
    ["serving 2026-03-31T23:00:00.000Z", stored, 91 * DAY_MS],
    ["nothing", later, authorityMs - 1000],
    ["authority 2026-12-31T23:00:00.000Z", later, authorityMs],
    [`serving ${WEBHOOK_NAMES[0]}`, pairs(LONG, SHORT, ["old.svc"])],
    ["nothing", pairs(LONG, SHORT, ["old.svc", ...WEBHOOK_NAMES])],
    // One that begins a little later by another's clock.
    ["nothing", stored, -2 * HOUR_MS],
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
  const makeServing = () => maker.makeServing(authority, { names: WEBHOOK_NAMES, ...VALIDITY });
  const serving = await makeServing();
  const data = storedTexts({ authority, serving });
  return { reader, old, authority, serving, makeServing, data };
}

Deno.test("readStoredPairs() reads what storedTexts() wrote", async () => {
  const { reader, authority, serving, data } = await stored();
  const details = { ...VALIDITY, names: [], authority: true };
  assert.deepEqual(readStoredPairs(data, reader), {
    authority: { ...authority, ...details },
    serving: { ...serving, ...VALIDITY, names: WEBHOOK_NAMES, authority: false },
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
    [{ ...data, "ca.crt": serving.cert, "ca.key": serving.key }, /^ca\.crt: /],
    [{ ...data, "tls.key": data["ca.key"] ?? "" }, /^tls\.crt and tls\.key: Cannot /],
    [{ ...data, "ca.crt": old.cert, "ca.key": old.key }, /^tls\.crt: .* ca\.crt$/],
  ];
  for (const [texts, message] of wrong) {
    const read = readStoredPairs(texts, reader);
    assert.match("fault" in read ? read.fault : "no fault", message);
    assert.ok("fault" in read && !/secret|key of/.test(read.fault));
  }
  // A fault of the program is passed on.
  const broken = { ...reader, signed: () => assert.fail("bug") };
  assert.throws(() => readStoredPairs(data, broken), /bug/);
});

Deno.test("followFiles() serves each pair once, also while files are of no use", async () => {
  const clock = createVirtualClock({ wallStart: 0 });
  const { reader, makeServing } = await stored();
  const served: unknown[] = [];
  const warned: string[] = [];
  const missing = new Error("Cannot read /c/tls.crt: no");
  let files: KeyedCertificate | Error = missing;
  const end = new AbortController();
  const running = followFiles({
    readFiles: () => files instanceof Error ? Promise.reject(files) : Promise.resolve(files),
    reader,
    observer: { serves: ({ notAfterMs }) => served.push(notAfterMs) },
    clock,
    log: { ...silentLog, warn: (_message, fields = {}) => warned.push(String(fields["error"])) },
    use: (pair) => void served.push(pair),
  }, end.signal);
  const [one, two] = [await makeServing(), await makeServing()];
  const { notAfterMs } = VALIDITY;
  const afterOne = [one, notAfterMs];
  const afterTwo = [...afterOne, two, notAfterMs];
  // One of two files is new already, then the other one as well.
  const mixed = { cert: two.cert, key: one.key };
  const rows: readonly (readonly [typeof one | Error, served: object, warnings: number])[] = [
    ...[[missing, [], 1], [one, afterOne, 1], [mixed, afterOne, 2]] as const,
    ...[[two, afterTwo, 2], [missing, afterTwo, 3]] as const,
  ];
  for (const [now, expected, warnings] of rows) {
    files = now;
    await clock.runUntil(clock.monotonic() + 2 * FILES_EVERY_MS);
    assert.deepEqual([served, warned.length], [expected, warnings]);
  }
  assert.deepEqual(warned[0], String(missing));
  assert.ok(!warned.join().includes("key of"));
  end.abort();
  await running;
});
