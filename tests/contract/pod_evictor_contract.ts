/**
 * The contract of `PodEvictor`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { EvictionAnswer, PodEvictor } from "../../shared/api/ports.ts";
import type { Pod } from "../../shared/api/pod.ts";
import {
  type ContractHarness,
  contractTests,
  type OpenHarness,
} from "./support/contract_harness.ts";

/** A server with pods of one workload. */
export interface PodEvictorHarness extends ContractHarness {
  readonly subject: PodEvictor;
  /** A pod that runs and is Ready, as stored. */
  running(name: string): Promise<Pod>;
  /** A pod without a node, as stored. */
  pending(name: string): Promise<Pod>;
  /** So many budgets for all these pods that allow nothing; they are in force when it resolves. */
  protect(budgets: number): Promise<void>;
  /** The stored pod. */
  read(pod: Pod): Promise<Pod | undefined>;
}

/** Registers the suite. */
export function podEvictorContract(open: OpenHarness<PodEvictorHarness>): void {
  const contract = contractTests(open);
  function evict(
    harness: PodEvictorHarness,
    { metadata: { namespace, name, uid } }: Pod,
  ): Promise<EvictionAnswer> {
    return harness.subject.evict({ namespace, name, uid });
  }

  async function assertStays(harness: PodEvictorHarness, pod: Pod, stays: boolean): Promise<void> {
    const stored = await harness.read(pod);
    assert.equal(stored !== undefined && !stored.metadata.terminating, stays);
  }

  contract("evict() makes a pod go", async (harness) => {
    for (const pod of [await harness.running("web-0"), await harness.pending("web-1")]) {
      assert.deepEqual(await evict(harness, pod), { is: "evicted" });
      await assertStays(harness, pod, false);
    }
  });

  contract("evict() leaves another pod of the name", async (harness) => {
    const pod = await harness.running("web-0");
    const uid = "00000000-0000-4000-8000-000000000000";
    const other = { ...pod, metadata: { ...pod.metadata, uid } };
    assert.deepEqual(await evict(harness, other), { is: "gone" });
    await assertStays(harness, pod, true);
    const none = { ...pod, metadata: { ...pod.metadata, name: "none" } };
    assert.deepEqual(await evict(harness, none), { is: "gone" });
  });

  contract("evict() is blocked by a budget, with its name, for pods that run", async (harness) => {
    const [pod, pending] = [await harness.running("web-0"), await harness.pending("web-1")];
    await harness.protect(1);
    const answer = await evict(harness, pod);
    assert.equal(answer.is, "blocked");
    assert.ok("message" in answer && answer.message.length > 0);
    await assertStays(harness, pod, true);
    assert.deepEqual(await evict(harness, pending), { is: "evicted" });
  });

  contract("evict() is blocked where several budgets are for the pod", async (harness) => {
    const pod = await harness.running("web-0");
    await harness.protect(2);
    const answer = await evict(harness, pod);
    assert.equal(answer.is, "blocked");
    await assertStays(harness, pod, true);
  });
}
