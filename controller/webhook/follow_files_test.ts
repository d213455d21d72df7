import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../simulation/virtual_clock.ts";
import { createPaperCertificates } from "../../tests/fixtures/paper_certificates.ts";
import { FILES_EVERY_MS, followFiles } from "./follow_files.ts";
import type { CertificateFiles, KeyedCertificate } from "./ports.ts";

const VALIDITY = { notBeforeMs: 0, notAfterMs: Date.UTC(2026, 3, 1) };

async function scene({ peers = false } = {}) {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const { maker, reader } = createPaperCertificates();
  const authority = await maker.makeAuthority({ name: "theirs", ...VALIDITY });
  const used: KeyedCertificate[] = [];
  const ends: number[] = [];
  const warned: string[] = [];
  const believed: string[] = [];
  const files: { now: Awaited<ReturnType<CertificateFiles["read"]>> | Error } = {
    now: new Error("Cannot read /c/tls.crt: no"),
  };
  const end = new AbortController();
  const running = followFiles({
    files: {
      read: () =>
        files.now instanceof Error ? Promise.reject(files.now) : Promise.resolve(files.now),
    },
    reader,
    peerName: "a.svc",
    observer: { serves: ({ notAfterMs }) => ends.push(notAfterMs) },
    clock,
    log: { ...silentLog, warn: (_message, fields = {}) => warned.push(String(fields["error"])) },
    use: (pair) => void used.push(pair),
    ...(peers ? { believe: (authorities) => void believed.push(authorities) } : {}),
  }, end.signal);
  return {
    used,
    believed,
    authority,
    ends,
    warned,
    files,
    makePair: (changes: { readonly names?: string[]; readonly forClients?: boolean } = {}) =>
      maker.makeServing(authority, { names: ["a.svc"], ...VALIDITY, ...changes }),
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

Deno.test("followFiles() serves on while the files are of no use, and tells each fault once", async () => {
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

Deno.test("followFiles() tells replicas whom to believe, and once where nobody says it", async () => {
  const { files, makePair, look, used, believed, authority, warned, stop } = await scene({
    peers: true,
  });
  const pair = await makePair();
  files.now = pair;
  await look();
  await look();
  assert.deepEqual([used, believed], [[pair], []]);
  assert.match(warned.splice(0).at(-1) ?? "", / no ca\.crt /);
  for (const [authorities, fault] of [["none", /no paper/], ["", /no certificate/]] as const) {
    files.now = { ...pair, authorities };
    await look();
    await look();
    assert.equal(warned.length, 1);
    assert.match(warned.splice(0).join(), fault);
  }
  files.now = { ...pair, authorities: authority.cert };
  await look();
  assert.deepEqual([...new Set(believed)], [authority.cert]);
  assert.deepEqual([used, warned], [[pair], []]);
  await stop();
});

Deno.test("followFiles() asks for no authorities where no replica is asked", async () => {
  const { files, makePair, look, used, warned, stop } = await scene();
  await look();
  warned.length = 0;
  files.now = await makePair();
  await look();
  assert.deepEqual([used.length, warned], [1, []]);
  await stop();
});

Deno.test("followFiles() serves, and tells once, what no other replica would hear", async () => {
  const { files, makePair, look, used, believed, authority, warned, stop } = await scene({
    peers: true,
  });
  await look();
  warned.length = 0;
  const cases: readonly (readonly [Parameters<typeof makePair>[0], RegExp])[] = [
    [{ forClients: false }, /tls\.crt .* clients$/],
    [{ names: ["*.svc"] }, /tls\.crt .* a\.svc$/],
  ];
  for (const [changes, fault] of cases) {
    const pair = await makePair(changes);
    files.now = { ...pair, authorities: authority.cert };
    await look();
    await look();
    assert.equal(warned.length, 1);
    assert.match(warned.splice(0).join(), fault);
    // It leads as well, and hears others.
    assert.deepEqual([used.at(-1), believed.at(-1)], [pair, authority.cert]);
  }
  files.now = { ...(await makePair({ names: ["b.svc", "a.svc"] })), authorities: authority.cert };
  await look();
  assert.deepEqual(warned, []);
  await stop();
});
