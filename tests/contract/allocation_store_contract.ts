/**
 * The contract of `AllocationStore`.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AllocationStore } from "../../controller/resize/ports.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodAllocation, PodAllocationStatus } from "../../shared/api/pod_allocation.ts";
import {
  assertRefused,
  type ContractHarness,
  contractTest,
  type OpenHarness,
} from "./support/contract_harness.ts";
import { sampleAllocation } from "./support/sample_objects.ts";

/** A server with a pod to allocate for. */
export interface AllocationStoreHarness extends ContractHarness {
  readonly subject: AllocationStore;
  readonly pod: Pod;
  /** The stored object. */
  read(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

const STATUS: PodAllocationStatus = {
  bounds: {
    revision: 1,
    reason: "",
    containers: [{
      name: "app",
      containerID: "containerd://ab",
      floor: 100,
      ceiling: 800,
      weight: 100,
    }],
  },
  originalLimits: [{ name: "app", cpu: "200m" }],
  phase: "Pending",
  reason: "Waiting",
};

/** Registers the suite. */
export function allocationStoreContract(open: OpenHarness<AllocationStoreHarness>): void {
  const create = ({ settle, subject, pod }: AllocationStoreHarness): Promise<PodAllocation> =>
    settle(subject.create(sampleAllocation(pod)));

  contractTest("create() gives UID and version and stores no status", open, async (harness) => {
    const written = { ...sampleAllocation(harness.pod), status: STATUS };
    const created = await harness.settle(harness.subject.create(written));
    assert.ok(created.metadata.uid !== "" && created.metadata.resourceVersion !== "");
    assert.equal(created.status?.phase, undefined);
    assert.deepEqual(created.spec, written.spec);
    assert.deepEqual(created.metadata.ownerReferences?.[0]?.uid, harness.pod.metadata.uid);
    assert.deepEqual(await harness.settle(harness.read(created)), created);
  });

  contractTest("create() is refused with 409 when the object exists", open, async (harness) => {
    await create(harness);
    await assertRefused(harness, () => harness.subject.create(sampleAllocation(harness.pod)), {
      status: 409,
      reason: "AlreadyExists",
    });
  });

  contractTest("create() is refused with 422 when a field is malformed", open, async (harness) => {
    const plain = sampleAllocation(harness.pod);
    const written = { ...plain, spec: { ...plain.spec, desiredCPULimit: "plenty" } };
    await assertRefused(harness, () => harness.subject.create(written), {
      status: 422,
      reason: "Invalid",
    });
    assert.equal(await harness.settle(harness.read(plain)), undefined);
  });

  contractTest("writeStatus() replaces the status and nothing else", open, async (harness) => {
    const created = await create(harness);
    const spec = { ...created.spec, desiredCPULimit: "900m" };
    const first = await harness.settle(
      harness.subject.writeStatus({ ...created, spec, status: STATUS }),
    );
    assert.deepEqual([first.spec, first.status], [created.spec, STATUS]);
    assert.equal(first.metadata.generation, created.metadata.generation);
    assert.notEqual(first.metadata.resourceVersion, created.metadata.resourceVersion);
    const second = await harness.settle(
      harness.subject.writeStatus({ ...first, status: { phase: "Applied" } }),
    );
    assert.deepEqual(second.status, { phase: "Applied" });
    assert.deepEqual(await harness.settle(harness.read(created)), second);
  });

  contractTest("writeStatus() is refused with 409 for an old version", open, async (harness) => {
    const created = await create(harness);
    await harness.settle(harness.subject.writeStatus({ ...created, status: STATUS }));
    const late = { ...created, status: { phase: "Failed" as const } };
    await assertRefused(harness, () => harness.subject.writeStatus(late), {
      status: 409,
      reason: "Conflict",
    });
    assert.deepEqual((await harness.settle(harness.read(created)))?.status, STATUS);
  });

  contractTest(
    "writeStatus() is refused with 422 when a field is malformed",
    open,
    async (harness) => {
      const created = await create(harness);
      const status = { ...STATUS, appliedCPULimit: "much" };
      await assertRefused(harness, () => harness.subject.writeStatus({ ...created, status }), {
        status: 422,
        reason: "Invalid",
      });
    },
  );

  contractTest("writeStatus() with what is there already writes nothing", open, async (harness) => {
    const created = await create(harness);
    const first = await harness.settle(harness.subject.writeStatus({ ...created, status: STATUS }));
    const again = await harness.settle(harness.subject.writeStatus(first));
    assert.equal(again.metadata.resourceVersion, first.metadata.resourceVersion);
  });

  contractTest("remove() deletes once and then answers 404", open, async (harness) => {
    const created = await create(harness);
    await harness.settle(harness.subject.remove(created));
    assert.equal(await harness.settle(harness.read(created)), undefined);
    const gone = { status: 404, reason: "NotFound" };
    await assertRefused(harness, () => harness.subject.remove(created), gone);
    await assertRefused(harness, () => harness.subject.writeStatus(created), gone);
  });

  contractTest("remove() leaves an object alone that has another UID", open, async (harness) => {
    const created = await create(harness);
    const uid = "00000000-0000-4000-8000-000000000000";
    const other = { ...created, metadata: { ...created.metadata, uid } };
    await assertRefused(harness, () => harness.subject.remove(other), { status: 409 });
    assert.deepEqual(await harness.settle(harness.read(created)), created);
  });
}
