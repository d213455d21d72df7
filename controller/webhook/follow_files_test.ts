import assert from "node:assert/strict";
import { silentLog } from "../../shared/log.ts";
import { createVirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { createPaperCertificates } from "../../tests/fixtures/webhook/paper_certificates.ts";
import { FILES_EVERY_MS, followFiles } from "./follow_files.ts";
import type { KeyedCertificate } from "../../adapters/webhook/certificates.ts";

const VALIDITY = { notBeforeMs: 0, notAfterMs: Date.UTC(2026, 3, 1) };

async function scene() {
  const clock = createVirtualClock({ wallStart: Date.UTC(2026, 0, 1) });
  const { maker, reader } = createPaperCertificates();
  const authority = await maker.makeAuthority({ name: "theirs", ...VALIDITY });
  const used: KeyedCertificate[] = [];
  const ends: number[] = [];
  const warned: string[] = [];
  const files: { now: KeyedCertificate | Error } = {
    now: new Error("Cannot read /c/tls.crt: no"),
  };
  const end = new AbortController();
  const running = followFiles({
    files: {
      read: () =>
        files.now instanceof Error ? Promise.reject(files.now) : Promise.resolve(files.now),
    },
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
