import assert from "node:assert/strict";
import fc from "fast-check";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createPaperCertificates } from "../../tests/fixtures/paper_certificates.ts";
import { createWebhookObjects } from "../../tests/fixtures/webhook_objects.ts";
import {
  type ReplicaScene,
  startReplica,
  type WebhookReplica,
} from "../../tests/fixtures/webhook_replica.ts";
import { storedTexts } from "./stored_pairs.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const NAMES = ["mbcas-webhook.mbcas-system.svc"];

function scene() {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const objects = createWebhookObjects({ clock, webhooks: ["a.mbcas.io", "b.mbcas.io"] });
  const paper = createPaperCertificates();
  const start = (options: Partial<ReplicaScene> = {}) =>
    startReplica({
      clock,
      store: objects.store,
      trust: objects.trust,
      paper,
      names: NAMES,
      ...options,
    });
  return {
    clock,
    objects,
    paper,
    start,
    /** Two replicas that begin so long after the scene's own beginning, and have settled. */
    async startAt(afterMs: number): Promise<readonly [WebhookReplica, WebhookReplica]> {
      await clock.runUntil(afterMs);
      const replicas = [start({ seed: 1 }), start({ seed: 2 })] as const;
      await clock.runUntil(afterMs + 1000);
      return replicas;
    },
    run: (ms: number) => clock.runUntil(clock.monotonic() + ms),
    bundles: () => objects.configuration?.bundles.map(([, bundle]) => bundle) ?? [],
    count: (what: string) => objects.writes.filter(([done]) => done === what).length,
    stored: (name: string) => objects.secret?.data[name] ?? "",
    /** Whether those who trust the bundles believe what a replica serves. */
    believed: ({ used }: WebhookReplica): boolean => {
      const serving = used.at(-1)?.cert ?? "";
      return (objects.configuration?.bundles ?? []).every(([, bundle]) =>
        paper.reader.readBundle(bundle).some(({ cert }) => paper.reader.signed(cert, serving))
      );
    },
  };
}

Deno.test("keepCertificates() makes, stores, serves and has trusted what was not there", async () => {
  const { start, run, bundles, stored, objects } = scene();
  const replica = start();
  await run(1000);
  assert.deepEqual(replica.used, [{ cert: stored("tls.crt"), key: stored("tls.key") }]);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.deepEqual(replica.made, ["authority"]);
  assert.deepEqual(replica.told[0]?.names, ["mbcas-webhook.mbcas-system.svc"]);
  await run(DAY_MS);
  assert.deepEqual(objects.writes.map(([what]) => what), ["create", "trust"]);
  assert.equal(replica.used.length, 1);
  await replica.stop();
});

Deno.test("keepCertificates() ends with one authority in two replicas that begin at once", async () => {
  const { start, run, count, bundles, stored } = scene();
  const replicas = [start({ seed: 1 }), start({ seed: 2 })];
  await run(2000);
  assert.equal(count("create"), 1);
  for (const { used } of replicas) {
    assert.equal(used.length, 1);
    assert.equal(used[0]?.cert, stored("tls.crt"));
  }
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.deepEqual(replicas.flatMap(({ made }) => made), ["authority"]);
  const lines = replicas.flatMap(({ lines }) => lines);
  assert.ok(lines.some((line) => line.startsWith("debug Another replica was faster")));
  assert.ok(!lines.some((line) => line.startsWith("warn")));
  for (const replica of replicas) await replica.stop();
});

Deno.test("keepCertificates() takes up after a restart what is stored", async () => {
  const { start, run, objects } = scene();
  const first = start();
  await run(1000);
  await first.stop();
  const second = start();
  await run(1000);
  assert.deepEqual(second.used, first.used);
  assert.deepEqual(second.made, []);
  assert.deepEqual(objects.writes.map(([what]) => what), ["create", "trust"]);
  await second.stop();
});

Deno.test("keepCertificates() renews the server's certificate in time, and no more than that", async () => {
  const { start, startAt, run, bundles, stored, believed } = scene();
  const first = start();
  await run(1000);
  await first.stop();
  // Due after 60 days less the hour by which its beginning is set back.
  const replicas = await startAt(60 * DAY_MS - 2 * HOUR_MS);
  await run(HOUR_MS - 120_000);
  for (const { used } of replicas) assert.deepEqual(used, first.used);
  const bundle = bundles();
  await run(300_000);
  assert.deepEqual(replicas.flatMap(({ made }) => made), ["serving"]);
  for (const replica of replicas) {
    assert.equal(replica.used.length, 2);
    assert.equal(replica.used[1]?.cert, stored("tls.crt"));
    assert.ok(believed(replica));
  }
  assert.deepEqual(bundles(), bundle);
  for (const replica of replicas) await replica.stop();
});

Deno.test("keepCertificates() has a new authority trusted beside the old one before it is served", async () => {
  const { start, startAt, run, bundles, stored, paper, believed, count } = scene();
  const first = start();
  await run(1000);
  await first.stop();
  const [old = ""] = bundles();
  const life = 365 * DAY_MS;
  const replicas = await startAt(life * 2 / 3 - HOUR_MS - 120_000);
  // In steps of five seconds around the renewal at two thirds: what is served is always believed.
  let overlapped = false;
  for (let step = 0; step < 100; step++) {
    await run(5000);
    const [bundle = ""] = bundles();
    const served = replicas.map(({ used }) => used.at(-1)?.cert ?? "");
    assert.ok(replicas.every(believed));
    if (stored("ca.crt") === old) continue;
    assert.ok(bundle === old || bundle === stored("ca.crt") + old);
    overlapped ||= bundle !== old && served.every((cert) => paper.reader.signed(old, cert));
  }
  assert.ok(overlapped);
  for (const { used } of replicas) assert.equal(used.at(-1)?.cert, stored("tls.crt"));
  assert.ok(paper.reader.signed(stored("ca.crt"), stored("tls.crt")));
  assert.notEqual(stored("ca.crt"), old);
  assert.equal(stored("old-ca.crt"), old);
  assert.deepEqual(bundles(), [stored("ca.crt") + old, stored("ca.crt") + old]);
  for (const replica of replicas) await replica.stop();
  // The old one leaves when it ends by itself.
  const later = await startAt(life - HOUR_MS - 60_000);
  assert.deepEqual(bundles(), [stored("ca.crt") + old, stored("ca.crt") + old]);
  await run(180_000);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  assert.equal(count("trust"), 3);
  for (const replica of later) await replica.stop();
});

Deno.test("keepCertificates() puts no old bundle back over that of a faster replica", async () => {
  const { objects, paper, start, run, bundles, stored, count } = scene();
  const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
  const authority = await paper.maker.makeAuthority({ name: "next", ...validity });
  const serving = await paper.maker.makeServing(authority, { names: NAMES, ...validity });
  let overtaking = false;
  const replica = start({
    store: {
      ...objects.store,
      // While the old Secret is on its way, another replica writes all of the new.
      async read() {
        const old = await objects.store.read();
        if (overtaking) {
          overtaking = false;
          const data = storedTexts({ authority, serving, earlier: [] });
          objects.secret = { resourceVersion: objects.nextVersion(), data };
          objects.configuration = {
            resourceVersion: objects.nextVersion(),
            bundles: [["a.mbcas.io", authority.cert], ["b.mbcas.io", authority.cert]],
          };
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

Deno.test("keepCertificates() replaces what has ended while nobody ran", async () => {
  const { clock, start, run, stored, bundles } = scene();
  const first = start();
  await run(1000);
  const old = stored("ca.crt");
  await first.stop();
  await run(400 * DAY_MS);
  const second = start();
  await run(1000);
  assert.deepEqual(second.made, ["authority"]);
  assert.ok((second.told[0]?.notAfterMs ?? 0) > clock.wall());
  assert.notEqual(stored("ca.crt"), old);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  await second.stop();
});

Deno.test("keepCertificates() replaces a Secret that is of no use, and tells why without its texts", async () => {
  const { objects, start, run, stored, bundles, believed } = scene();
  const replica = start();
  await run(1000);
  const before = { ...objects.secret?.data };
  for (const wrong of [{}, { ...before, "tls.key": "secret" }, { ...before, "ca.crt": "<" }]) {
    objects.secret = { resourceVersion: objects.nextVersion(), data: wrong };
    await run(90_000);
    assert.notEqual(stored("ca.crt"), before["ca.crt"]);
    assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
    assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
    assert.ok(believed(replica));
  }
  const warned = replica.lines.filter((line) => line.startsWith("warn"));
  assert.equal(warned.length, 3);
  for (const line of warned) {
    assert.match(line, /^warn Unusable certificates replaced .*(ca|tls)\./);
  }
  assert.ok(!replica.lines.some((line) => /secret|key of/.test(line)));
  await replica.stop();
});

Deno.test("keepCertificates() begins anew when the Secret is deleted, and has the old authority forgotten", async () => {
  const { objects, start, run, stored, bundles } = scene();
  const replicas = [start({ seed: 1 }), start({ seed: 2 })];
  await run(1000);
  const old = stored("ca.crt");
  objects.secret = undefined;
  await run(180_000);
  assert.notEqual(stored("ca.crt"), old);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  for (const replica of replicas) {
    assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
    await replica.stop();
  }
});

Deno.test("keepCertificates() makes another certificate when the service has another name", async () => {
  const { start, run, stored } = scene();
  const first = start();
  await run(1000);
  const authority = stored("ca.crt");
  await first.stop();
  const second = start({ names: ["other.svc"] });
  await run(1000);
  assert.deepEqual(second.told.at(-1)?.names, ["other.svc"]);
  assert.deepEqual([second.made, stored("ca.crt")], [["serving"], authority]);
  await second.stop();
});

Deno.test("keepCertificates() puts the bundle back that somebody has taken away", async () => {
  const { objects, start, run, bundles, stored } = scene();
  const replica = start();
  await run(1000);
  objects.configuration = {
    resourceVersion: objects.nextVersion(),
    bundles: [["a.mbcas.io", ""], ["b.mbcas.io", stored("ca.crt")]],
  };
  await run(90_000);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  await replica.stop();
});

Deno.test("keepCertificates() serves without a configuration, which nobody then calls by", async () => {
  const { objects, start, run, count } = scene();
  objects.configuration = undefined;
  const replica = start();
  await run(1000);
  assert.deepEqual([replica.used.length, count("trust")], [1, 0]);
  await replica.stop();
});

Deno.test("keepCertificates() serves on while the server refuses, tells so, and goes on afterwards", async () => {
  const { objects, start, startAt, run, stored } = scene();
  const first = start();
  await run(1000);
  await first.stop();
  const [replica, other] = await startAt(60 * DAY_MS - 2 * HOUR_MS);
  objects.refuse(403);
  await run(2 * HOUR_MS);
  assert.equal(replica.used.length, 1);
  assert.ok(replica.lines.some((line) => line.startsWith("warn The certificates can't be looked")));
  objects.refuse(0);
  await run(180_000);
  assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
  assert.equal(replica.used.length, 2);
  await replica.stop();
  await other.stop();
});

Deno.test("keepCertificates() ends with one authority, whenever how many replicas begin and end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(300_000), fc.nat(100)), { minLength: 2, maxLength: 5 }),
      async (begins) => {
        const { start, run, bundles, stored, believed, paper } = scene();
        const replicas: WebhookReplica[] = [];
        for (const [pauseMs, seed] of begins) {
          replicas.push(start({ seed }));
          await run(pauseMs);
        }
        await run(180_000);
        for (const replica of replicas) {
          assert.ok(believed(replica));
          assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
        }
        assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
        assert.equal(paper.reader.readBundle(bundles()[0] ?? "").length, 1);
        assert.deepEqual(replicas.flatMap(({ made }) => made), ["authority"]);
        for (const replica of replicas) await replica.stop();
      },
    ),
    { numRuns: 100 },
  );
});
