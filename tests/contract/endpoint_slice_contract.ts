/**
 * The contract of `EndpointSliceStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { EndpointSliceSpec, EndpointSliceStore } from "../../shared/admission/ports.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  EXISTS,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server without the EndpointSlice. */
export interface EndpointSliceHarness extends ContractHarness {
  readonly subject: EndpointSliceStore;
}

const FIRST: EndpointSliceSpec = {
  service: "webhook",
  addressType: "IPv4",
  endpoints: [{ addresses: ["10.0.0.1"], ready: true }],
  ports: [{ name: "https", port: 9443 }],
};
const NEXT: EndpointSliceSpec = {
  ...FIRST,
  endpoints: [{ addresses: ["10.0.0.2"], ready: true }],
  ports: [{ name: "https", port: 10443 }],
};

/** Registers the suite. */
export function endpointSliceContract(open: OpenHarness<EndpointSliceHarness>): void {
  const contract = contractTests(open);
  async function read({ subject }: EndpointSliceHarness) {
    return await subject.read() ?? assert.fail("there is none");
  }

  async function specIn(harness: EndpointSliceHarness): Promise<EndpointSliceSpec> {
    const { metadata: _metadata, ...spec } = await read(harness);
    return spec;
  }

  contract(
    "EndpointSliceStore.read() gives nothing before create(), and then what it stored",
    async (h) => {
      assert.equal(await h.subject.read(), undefined);
      await h.subject.create(FIRST);
      assert.deepEqual(await specIn(h), FIRST);
      await assertRefused(h.subject.create(NEXT), EXISTS);
      assert.deepEqual(await specIn(h), FIRST);
    },
  );

  contract(
    "EndpointSliceStore.replace() writes all of it, and none of an old version",
    async (h) => {
      await h.subject.create(FIRST);
      const seen = await read(h);
      await h.subject.replace(seen, NEXT);
      assert.deepEqual(await specIn(h), NEXT);
      await assertRefused(h.subject.replace(seen, FIRST), CONFLICT);
      await h.subject.replace(await read(h), { ...NEXT, endpoints: [] });
      assert.deepEqual((await read(h)).endpoints, []);
    },
  );
}
