import assert from "node:assert/strict";
import {
  certificateFolder,
  createCertificateMaker,
  createCertificateReader,
} from "./certificates.ts";

const DAY_MS = 86_400_000;
const validity = {
  notBeforeMs: Date.UTC(2026, 0, 1),
  notAfterMs: Date.UTC(2026, 0, 1) + 90 * DAY_MS,
};
const maker = createCertificateMaker();
const reader = createCertificateReader();
const names = ["mbcas-webhook.mbcas-system.svc", "other.svc"];

Deno.test("createCertificateMaker() makes certificates for names longer than a subject may be", async () => {
  const authority = await maker.makeAuthority({ name: "one", ...validity });
  const long = [`${"s".repeat(63)}.${"n".repeat(63)}.svc`];
  const serving = await maker.makeServing(authority, { names: long, ...validity });
  assert.deepEqual(reader.readPair(serving).names, long);
});

Deno.test("createCertificateMaker() refuses an authority that it can't use, without its key", async () => {
  const authority = await maker.makeAuthority({ name: "one", ...validity });
  const key = authority.key.replace(/\n[^-]{10}/, "\nAAAAAAAAAA");
  for (const changes of [{ cert: "none" }, { key }]) {
    const making = maker.makeServing({ ...authority, ...changes }, { names, ...validity });
    await assert.rejects(making, (error: unknown) => {
      assert.ok(error instanceof TypeError && error.cause === undefined);
      assert.match(error.message, /authority /);
      return true;
    });
  }
});

Deno.test("createCertificateReader() reads each certificate of a bundle", async () => {
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  const bundle = reader.readBundle(`first\n${one.cert}\n\nsecond\n${two.cert}`);
  assert.deepEqual(bundle.map(({ cert }) => cert.trim()), [one.cert.trim(), two.cert.trim()]);
  assert.deepEqual(reader.readBundle(""), []);
  // The first one of a chain is the server's own.
  assert.ok(reader.readPair({ cert: one.cert + two.cert, key: one.key }).authority);
  assert.throws(() => reader.readPair({ cert: one.cert + two.cert, key: two.key }), /another one/);
});

Deno.test("createCertificateReader() refuses what is no pair, and repeats nothing of it", async () => {
  const one = await maker.makeAuthority({ name: "one", ...validity });
  const two = await maker.makeAuthority({ name: "two", ...validity });
  const cut = one.cert.slice(0, -40);
  const wrong: readonly (readonly [() => unknown, RegExp])[] = [
    [() => reader.readPair({ ...one, key: two.key }), /belongs to another one/],
    [() => reader.readPair({ ...one, key: "" }), /not a PEM private key$/],
    [() => reader.readPair({ ...one, key: two.key.slice(0, 80) }), /not a PEM private key$/],
    [() => reader.readPair({ ...one, cert: "" }), /there is none/],
    [() => reader.readPair({ ...one, cert: one.key }), /truncated or not a certificate$/],
    [() => reader.readBundle(two.cert + cut), /truncated or not a certificate$/],
    [
      () => reader.readBundle(one.cert.replace(/\n.{30}/, "\n" + "A".repeat(30))),
      /a block is not X\.509$/,
    ],
  ];
  for (const [read, message] of wrong) {
    assert.throws(read, (error: unknown) => {
      assert.ok(error instanceof TypeError && error.cause === undefined, String(error));
      assert.match(error.message, /^Cannot (read|use) /);
      assert.match(error.message, message);
      const secret = [one, two].flatMap(({ key }) => key.split("\n").slice(1, 3));
      for (const line of secret) assert.ok(!error.message.includes(line.slice(0, 12)));
      return true;
    });
  }
});

Deno.test("certificateFolder() reads the files as they are now", async () => {
  const folder = await Deno.makeTempDir();
  const read = certificateFolder(folder);
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.(crt|key): `) });
  await Deno.writeTextFile(`${folder}/tls.crt`, "one");
  await assert.rejects(read(), { message: new RegExp(`^Cannot read ${folder}/tls\\.key: `) });
  await Deno.writeTextFile(`${folder}/tls.key`, "two");
  assert.deepEqual(await read(), { cert: "one", key: "two" });
  await Deno.writeTextFile(`${folder}/tls.crt`, "three");
  assert.deepEqual(await read(), { cert: "three", key: "two" });
  await Deno.remove(folder, { recursive: true });
});
