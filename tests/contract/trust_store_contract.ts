/**
 * The contract of `TrustStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { TrustStore } from "../../controller/webhook/ports.ts";
import {
  assertRefused,
  CONFLICT,
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
    async ({ subject, absent }) => {
      const seen = await subject.read();
      assert.deepEqual(seen?.bundles, [["a.mbcas.io", ""], ["b.mbcas.io", ""]]);
      assert.notEqual(seen?.resourceVersion, "");
      assert.equal(await absent.read(), undefined);
    },
  );

  contractTest(
    "TrustStore.write() gives all webhooks the bundle, and changes nothing else",
    open,
    async ({ subject, bundle, rest }) => {
      const before = await rest();
      const seen = await subject.read() ?? assert.fail("it is there");
      await subject.write(seen, bundle);
      const read = await subject.read() ?? assert.fail("it is there");
      assert.deepEqual(read.bundles, [["a.mbcas.io", bundle], ["b.mbcas.io", bundle]]);
      assert.deepEqual(await rest(), before);
      await subject.write(read, bundle + bundle);
      assert.equal((await subject.read())?.bundles[0]?.[1], bundle + bundle);
    },
  );

  contractTest("TrustStore.write() is refused with 409 for an old version", open, async (h) => {
    const seen = await h.subject.read() ?? assert.fail("it is there");
    await h.subject.write(seen, h.bundle);
    const call = (): Promise<void> => h.subject.write(seen, h.bundle + h.bundle);
    await assertRefused(call(), CONFLICT);
    assert.equal((await h.subject.read())?.bundles[0]?.[1], h.bundle);
  });
}
