/**
 * The contract of `LeaseStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Lease } from "../../shared/api/lease.ts";
import type { LeaseStore } from "../../shared/control/leader_election.ts";
import {
  assertRefused,
  CONFLICT,
  type ContractHarness,
  contractTests,
  EXISTS,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server without the Lease. */
export interface LeaseStoreHarness extends ContractHarness {
  readonly subject: LeaseStore;
}

const TAKEN: Lease = {
  metadata: { name: "", namespace: "", uid: "", resourceVersion: "" },
  holder: "a",
  durationSeconds: 15,
  acquireTimeMs: 1_767_225_600_000,
  renewTimeMs: 1_767_225_600_250,
  transitions: 2,
};

/** What candidates write of a Lease. */
function written({ metadata: _metadata, ...record }: Lease): Omit<Lease, "metadata"> {
  return record;
}

/** Registers the suite. */
export function leaseStoreContract(open: OpenHarness<LeaseStoreHarness>): void {
  const contract = contractTests(open);
  contract("read() gives nothing before create(), and then what it stored", async (h) => {
    assert.equal(await h.subject.read(), undefined);
    const created = await h.subject.create(TAKEN);
    assert.deepEqual(written(created), written(TAKEN));
    assert.ok(created.metadata.uid !== "" && created.metadata.resourceVersion !== "");
    assert.deepEqual(await h.subject.read(), created);
  });

  contract("create() is refused with 409 to the second client", async (h) => {
    const created = await h.subject.create(TAKEN);
    await assertRefused(h.subject.create({ ...TAKEN, holder: "b" }), EXISTS);
    assert.deepEqual(await h.subject.read(), created);
  });

  contract("update() lets one of two win that read the same record", async (h) => {
    const seen = await h.subject.create(TAKEN);
    const won = await h.subject.update({ ...seen, holder: "b", transitions: 3 });
    await assertRefused(h.subject.update({ ...seen, holder: "c" }), CONFLICT);
    assert.deepEqual(await h.subject.read(), won);
    assert.deepEqual(written(won), { ...written(TAKEN), holder: "b", transitions: 3 });
    assert.notEqual(won.metadata.resourceVersion, seen.metadata.resourceVersion);
  });

  contract("update() can release the record, which has no holder then", async (h) => {
    const seen = await h.subject.create(TAKEN);
    const free = await h.subject.update({
      ...seen,
      holder: "",
      renewTimeMs: undefined,
      durationSeconds: 1,
    });
    assert.deepEqual([free.holder, free.renewTimeMs], ["", undefined]);
    const next = await h.subject.update({ ...free, holder: "b", durationSeconds: 15 });
    assert.equal(next.holder, "b");
  });
}
