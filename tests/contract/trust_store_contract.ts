/**
 * The contract of `TrustStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { TrustStore } from "../../controller/webhook/ports.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTest,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server with a configuration of the webhooks `a.mbcas.io` and `b.mbcas.io`, without bundles. */
export interface TrustStoreHarness extends ContractHarness {
  readonly subject: TrustStore;
  /** Of a configuration that is not there. */
  readonly absent: TrustStore;
  /** A bundle that the server takes for one. */
  readonly bundle: string;
  /** All of the configuration but versions and bundles, to see that nothing else is changed. */
  rest(): Promise<unknown>;
}

/** Registers the suite. */
export function trustStoreContract(open: OpenHarness<TrustStoreHarness>): void {
  contractTest(
    "TrustStore.read() names the webhooks, and nothing where there is no configuration",
    open,
    async ({ settle, subject, absent }) => {
      const seen = await settle(subject.read());
      assert.deepEqual(seen?.bundles, [["a.mbcas.io", ""], ["b.mbcas.io", ""]]);
      assert.notEqual(seen?.resourceVersion, "");
      assert.equal(await settle(absent.read()), undefined);
    },
  );

  contractTest(
    "TrustStore.write() gives all webhooks the bundle, and changes nothing else",
    open,
    async ({ settle, subject, bundle, rest }) => {
      const before = await settle(rest());
      const seen = await settle(subject.read()) ?? assert.fail("it is there");
      await settle(subject.write(seen, bundle));
      const read = await settle(subject.read()) ?? assert.fail("it is there");
      assert.deepEqual(read.bundles, [["a.mbcas.io", bundle], ["b.mbcas.io", bundle]]);
      assert.deepEqual(await settle(rest()), before);
      await settle(subject.write(read, bundle + bundle));
      assert.equal((await settle(subject.read()))?.bundles[0]?.[1], bundle + bundle);
    },
  );

  contractTest("TrustStore.write() is refused with 409 for an old version", open, async (h) => {
    const seen = await h.settle(h.subject.read()) ?? assert.fail("it is there");
    await h.settle(h.subject.write(seen, h.bundle));
    const call = (): Promise<void> => h.subject.write(seen, h.bundle + h.bundle);
    await assertRefused(h, call, { status: 409, reason: "Conflict" });
    assert.equal((await h.settle(h.subject.read()))?.bundles[0]?.[1], h.bundle);
  });
}
