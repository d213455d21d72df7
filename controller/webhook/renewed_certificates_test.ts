/** What `keepCertificates()` does when certificates near their end. */
import assert from "node:assert/strict";
import { WEBHOOK_NAMES, webhookScene } from "../../tests/fixtures/webhook_replica.ts";
import { storedTexts } from "./stored_pairs.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

Deno.test("keepCertificates() renews the server's certificate in time, and no more than that", async () => {
  const { start, startAt, run, bundles, stored, believed } = webhookScene();
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
  const { start, startAt, run, bundles, stored, paper, believed, count } = webhookScene();
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

Deno.test("keepCertificates() shows other replicas nothing that they don't believe yet", async () => {
  const { clock, start, run, stored, paper } = webhookScene();
  const first = start();
  await run(1000);
  await first.stop();
  const old = stored("ca.crt");
  await clock.runUntil(365 * DAY_MS * 2 / 3 - HOUR_MS - 120_000);
  // They look at the Secret half a minute apart.
  const replicas = [start({ seed: 1 })];
  await run(30_000);
  replicas.push(start({ seed: 2 }));
  for (let step = 0; step < 200; step++) {
    await run(2000);
    for (const { used } of replicas) {
      const shown = used.at(-1)?.cert ?? "";
      const isBelieved = replicas.every((one) =>
        paper.reader.readBundle(one.believes()).some(({ cert }) => paper.reader.signed(cert, shown))
      );
      assert.ok(isBelieved);
    }
  }
  assert.notEqual(stored("ca.crt"), old);
  for (const { used } of replicas) assert.equal(used.at(-1)?.cert, stored("tls.crt"));
  for (const replica of replicas) await replica.stop();
});

Deno.test("keepCertificates() replaces what has ended while nobody ran", async () => {
  const { clock, start, run, stored, bundles } = webhookScene();
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

Deno.test("keepCertificates() serves on while the server refuses, tells so, and goes on afterwards", async () => {
  const { objects, start, startAt, run, stored } = webhookScene();
  const first = start();
  await run(1000);
  await first.stop();
  const [replica, other] = await startAt(60 * DAY_MS - 2 * HOUR_MS);
  objects.refuse(403);
  await run(2 * HOUR_MS);
  assert.equal(replica.used.length, 1);
  assert.ok(replica.lines.some((line) => /^warn .* 403/.test(line)));
  objects.refuse(0);
  await run(180_000);
  assert.equal(replica.used.at(-1)?.cert, stored("tls.crt"));
  assert.equal(replica.used.length, 2);
  await replica.stop();
  await other.stop();
});

Deno.test("keepCertificates() serves what is renewed though nothing can be said of trust", async () => {
  const { objects, start, startAt, run } = webhookScene();
  const first = start();
  await run(1000);
  await first.stop();
  const replicas = await startAt(60 * DAY_MS - 2 * HOUR_MS);
  for (const replica of replicas) await replica.stop();
  const denied = { ...objects.trust, write: () => Promise.reject(new RangeError("denied")) };
  objects.configuration = {
    resourceVersion: objects.nextVersion(),
    bundles: [["a.mbcas.io", "lost"]],
  };
  const replica = start({ trust: denied });
  await run(2 * HOUR_MS);
  assert.equal(replica.used.length, 2);
  assert.ok(replica.lines.some((line) => line.includes("denied")));
  await replica.stop();
});

Deno.test("keepCertificates() waits for nobody's trust where what it serves has ended", async () => {
  const { clock, objects, paper, start, run, count, bundles } = webhookScene();
  const endingAt = (ms: number) => ({ notBeforeMs: clock.wall(), notAfterMs: clock.wall() + ms });
  const authority = await paper.maker.makeAuthority({ name: "short", ...endingAt(2 * HOUR_MS) });
  const serving = await paper.maker.makeServing(authority, {
    names: WEBHOOK_NAMES,
    ...endingAt(HOUR_MS),
  });
  objects.secret = {
    resourceVersion: objects.nextVersion(),
    data: storedTexts({ authority, serving, earlier: [] }),
  };
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
  assert.equal(paper.reader.readBundle(bundles()[0] ?? "").length, 2);
  await replica.stop();
});
