import assert from "node:assert/strict";
import fc from "fast-check";
import {
  WEBHOOK_NAMES,
  type WebhookReplica,
  webhookScene,
} from "../../tests/fixtures/webhook_replica.ts";
import { storedTexts } from "./stored_pairs.ts";

const DAY_MS = 86_400_000;

Deno.test("keepCertificates() makes, stores, serves and has trusted what was not there", async () => {
  const { start, run, bundles, stored, objects } = webhookScene();
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
  const { start, run, count, bundles, stored } = webhookScene();
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
  assert.ok(lines.some((line) => line.startsWith("debug Another replica")));
  assert.ok(!lines.some((line) => line.startsWith("warn")));
  for (const replica of replicas) await replica.stop();
});

Deno.test("keepCertificates() takes up after a restart what is stored", async () => {
  const { start, run, objects } = webhookScene();
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

Deno.test("keepCertificates() puts no old bundle back over that of a faster replica", async () => {
  const { objects, paper, start, run, bundles, stored, count } = webhookScene();
  const validity = { notBeforeMs: Date.UTC(2026, 0, 1), notAfterMs: Date.UTC(2027, 0, 1) };
  const authority = await paper.maker.makeAuthority({ name: "next", ...validity });
  const serving = await paper.maker.makeServing(authority, { names: WEBHOOK_NAMES, ...validity });
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

Deno.test("keepCertificates() replaces a Secret that is of no use, and tells why without its texts", async () => {
  const { objects, start, run, stored, bundles, believed } = webhookScene();
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
    assert.match(line, /^warn Unusable .*(ca|tls)\./);
  }
  assert.ok(!replica.lines.some((line) => /secret|key of/.test(line)));
  await replica.stop();
});

Deno.test("keepCertificates() begins anew when the Secret is deleted, and has the old authority forgotten", async () => {
  const { objects, start, run, stored, bundles } = webhookScene();
  const replicas = [start({ seed: 1 }), start({ seed: 2 })];
  await run(1000);
  const old = stored("ca.crt");
  objects.secret = undefined;
  while (stored("ca.crt") === "") await run(100);
  await run(100);
  // There is no use in what nobody shall believe any more.
  assert.deepEqual(replicas.map(({ used }) => used.length).sort(), [1, 2]);
  await run(180_000);
  assert.notEqual(stored("ca.crt"), old);
  assert.deepEqual(bundles(), [stored("ca.crt"), stored("ca.crt")]);
  for (const replica of replicas) {
    assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
    await replica.stop();
  }
});

Deno.test("keepCertificates() makes another certificate when the service has another name", async () => {
  const { start, run, stored } = webhookScene();
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
  const { objects, start, run, bundles, stored } = webhookScene();
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
  const { objects, start, run, count } = webhookScene();
  objects.configuration = undefined;
  const replica = start();
  await run(1000);
  assert.deepEqual([replica.used.length, count("trust")], [1, 0]);
  await replica.stop();
});

Deno.test("keepCertificates() ends with one authority, whenever how many replicas begin and end", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(300_000), fc.nat(100)), { minLength: 2, maxLength: 5 }),
      async (begins) => {
        const { start, run, bundles, stored, believed, paper } = webhookScene();
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
  );
});
