import assert from "node:assert/strict";
import { systemClock } from "../../adapters/system_clock.ts";
import { createCertificateMaker } from "../../adapters/webhook/certificate_maker.ts";
import { createCertificateReader } from "../../adapters/webhook/certificate_reader.ts";
import { createCertificateFolder } from "../../adapters/webhook/certificate_folder.ts";
import { silentLog } from "../../shared/log.ts";
import { createSteppedClock } from "../../tests/fixtures/stepped_clock.ts";
import { certificateChain, SERVICE_NAME } from "../../tests/fixtures/shared_certificates.ts";
import { followFiles } from "../webhook/follow_files.ts";
import type { KeyedCertificate } from "../webhook/ports.ts";
import { createTLSPeerLink } from "./tls_peer_link.ts";

const QUESTION = {
  id: "1",
  namespace: "shop",
  owner: { apiVersion: "apps/v1", kind: "ReplicaSet", name: "web-5f", uid: "rs" },
  revision: "5f",
  pod: {},
  dryRun: false,
};

/** A replica whose certificates stand in a folder. */
async function replica(folder: string) {
  const address = Promise.withResolvers<string>();
  const note = (_message: string, fields: Readonly<Record<string, unknown>> = {}): void => {
    if (typeof fields["address"] === "string") address.resolve(fields["address"]);
  };
  const log = { ...silentLog, info: note };
  const link = createTLSPeerLink({ peerListen: "127.0.0.1:0", serverName: SERVICE_NAME, log });
  const peers = link.serve({ answer: () => Promise.resolve({ class: "spot" }), forget: () => {} });
  const end = new AbortController();
  const clock = createSteppedClock(systemClock.wall());
  const running = followFiles({
    files: createCertificateFolder(folder),
    reader: createCertificateReader(),
    observer: { serves: () => {} },
    clock,
    log: silentLog,
    use: peers.use,
    believe: peers.believe,
    peerName: SERVICE_NAME,
  }, end.signal);
  await clock.asleep;
  return {
    link,
    address: address.promise,
    async [Symbol.asyncDispose]() {
      end.abort();
      await running;
      await peers.shutdown();
    },
  };
}

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = await Deno.makeTempDir();
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${folder}/${name}`, text);
  }
  return folder;
}

Deno.test("createTLSPeerLink() lets replicas ask each other by the files of a folder with ca.crt", async () => {
  const { authority, serving } = await certificateChain("theirs", systemClock.wall());
  const validity = { notBeforeMs: 0, notAfterMs: systemClock.wall() + 3_600_000 };
  const maker = createCertificateMaker();
  // One of them has been renewed already.
  const renewed = await maker.makeServing(authority, { names: [SERVICE_NAME], ...validity });
  const filesOf = ({ cert, key }: KeyedCertificate) =>
    folderOf({ "tls.crt": cert, "tls.key": key, "ca.crt": authority.cert });
  const folders = [await filesOf(serving), await filesOf(renewed)];
  {
    await using one = await replica(folders[0]!);
    await using other = await replica(folders[1]!);
    for (const [asking, asked] of [[one, other], [other, one]] as const) {
      const address = await asked.address;
      const signal = AbortSignal.timeout(5000);
      assert.deepEqual(await asking.link.client.ask(QUESTION, { address, signal }), {
        class: "spot",
      });
    }
  }
  await Promise.all(folders.map((folder) => Deno.remove(folder, { recursive: true })));
});

Deno.test("createTLSPeerLink() asks nobody without ca.crt", async () => {
  const { serving } = await certificateChain("theirs", systemClock.wall());
  const folder = await folderOf({ "tls.crt": serving.cert, "tls.key": serving.key });
  {
    await using one = await replica(folder);
    const asked = { address: "127.0.0.1:1", signal: AbortSignal.timeout(5000) };
    await assert.rejects(one.link.client.ask(QUESTION, asked), /no certificate/);
  }
  await Deno.remove(folder, { recursive: true });
});
