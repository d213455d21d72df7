/**
 * The contract of `CertificateStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { CertificateStore } from "../../controller/webhook/ports.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTest,
  EXISTS,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server without the Secret. */
export interface CertificateStoreHarness extends ContractHarness {
  readonly subject: CertificateStore;
}

const FIRST = { "ca.crt": "one\n", "ca.key": "größer 🦕\n", "old-ca.crt": "" };
const SECOND = { "ca.crt": "two\n", "tls.key": "other\n" };

/** Registers the suite. */
export function certificateStoreContract(open: OpenHarness<CertificateStoreHarness>): void {
  contractTest(
    "CertificateStore.read() gives nothing before create(), and then what it stored",
    open,
    async ({ subject }) => {
      assert.equal(await subject.read(), undefined);
      await subject.create(FIRST);
      const read = await subject.read();
      assert.deepEqual(read?.data, FIRST);
      assert.notEqual(read?.resourceVersion, "");
    },
  );

  contractTest(
    "CertificateStore.create() lets one of two win, and refuses the other with 409",
    open,
    async (h) => {
      const attempts = await Promise.allSettled(
        [FIRST, SECOND].map((data) => h.subject.create(data)),
      );
      assert.deepEqual(attempts.map(({ status }) => status).sort(), ["fulfilled", "rejected"]);
      await assertRefused(h.subject.create(SECOND), EXISTS);
      const won = attempts[0]?.status === "fulfilled" ? FIRST : SECOND;
      assert.deepEqual((await h.subject.read())?.data, won);
    },
  );

  contractTest(
    "CertificateStore.replace() puts all texts in the place of those before",
    open,
    async ({ subject }) => {
      await subject.create(FIRST);
      const seen = await subject.read() ?? assert.fail("it was created");
      await subject.replace(seen, SECOND);
      const read = await subject.read();
      assert.deepEqual(read?.data, SECOND);
      assert.notEqual(read?.resourceVersion, seen.resourceVersion);
    },
  );

  contractTest(
    "CertificateStore.replace() is refused with 409 for an old version",
    open,
    async (h) => {
      await h.subject.create(FIRST);
      const seen = await h.subject.read() ?? assert.fail("it was created");
      await h.subject.replace(seen, SECOND);
      await assertRefused(h.subject.replace(seen, FIRST), CONFLICT);
      assert.deepEqual((await h.subject.read())?.data, SECOND);
    },
  );
}
