/**
 * The contract of `DesiredWriter`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { DesiredWriter } from "../../shared/api/ports.ts";
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTests,
  INVALID,
  NOT_FOUND,
  type OpenHarness,
} from "./support/contract_harness.ts";
import { sampleDesired } from "./support/sample_objects.ts";

/** A server with two allocations, written to with the rights of one node's agent. */
export interface DesiredWriterHarness extends ContractHarness {
  readonly subject: DesiredWriter;
  /** An allocation of the agent's node, with a status. */
  readonly own: PodAllocation;
  /** An allocation of another node. */
  readonly foreign: PodAllocation;
  /** The stored object. */
  read(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

/** Registers the suite. */
export function desiredWriterContract(open: OpenHarness<DesiredWriterHarness>): void {
  const contract = contractTests(open);
  contract("writeDesired() merges into the spec and leaves the rest", async (harness) => {
    const { own, subject } = harness;
    const desired = sampleDesired("350m");
    const version = await subject.writeDesired(own.metadata, desired);
    const stored = await harness.read(own);
    assert.equal(version, stored?.metadata.resourceVersion);
    assert.notEqual(version, own.metadata.resourceVersion);
    assert.deepEqual(stored?.spec, { ...own.spec, ...desired });
    assert.deepEqual(stored?.status, own.status);
    assert.deepEqual(stored?.metadata.ownerReferences, own.metadata.ownerReferences);
    assert.equal(stored?.metadata.generation, (own.metadata.generation ?? 0) + 1);
  });

  contract("writeDesired() leaves no price of an earlier clearing behind", async (harness) => {
    const { own, subject } = harness;
    await subject.writeDesired(own.metadata, sampleDesired("350m"));
    const { price: _price, ...market } = sampleDesired("100m").market ?? assert.fail();
    const infinite = {
      ...sampleDesired("100m"),
      market: { ...market, mode: "overloaded" as const },
    };
    await subject.writeDesired(own.metadata, infinite);
    const stored = await harness.read(own);
    assert.deepEqual(stored?.spec, { ...own.spec, ...infinite });
  });

  contract("writeDesired() keeps the fields that are not given", async (harness) => {
    const { own, subject } = harness;
    const desired = sampleDesired("350m");
    const { market, ...limits } = sampleDesired("500m", 0.02);
    await subject.writeDesired(own.metadata, desired);
    await subject.writeDesired(own.metadata, limits);
    assert.deepEqual((await harness.read(own))?.spec, {
      ...own.spec,
      ...limits,
      market: desired.market,
    });
    assert.notDeepEqual(market, desired.market);
  });

  contract("writeDesired() is refused with 422 when a field is malformed", async (harness) => {
    const { own, subject } = harness;
    const malformed = { desiredCPULimit: "-5m" };
    await assertRefused(subject.writeDesired(own.metadata, malformed), INVALID);
    assert.deepEqual(await harness.read(own), own);
  });

  contract("writeDesired() is refused with 404 when the object is gone", async (harness) => {
    const gone = { namespace: harness.own.metadata.namespace, name: "gone" };
    await assertRefused(harness.subject.writeDesired(gone, sampleDesired("1")), NOT_FOUND);
  });

  contract("writeDesired() is refused for another node's allocation", async (harness) => {
    const { foreign, subject } = harness;
    await assertRefused(subject.writeDesired(foreign.metadata, sampleDesired("1")), {
      status: 403,
    });
    assert.deepEqual(await harness.read(foreign), foreign);
  });
}
