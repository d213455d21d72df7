/**
 * Whether allocation, kubelet and kernel say the same of a pod's limits.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../../shared/api/pod_allocation.ts";
import { parseCPU } from "../../../../shared/quantity.ts";
import { enforcedLimits, podDirectories } from "./node_cgroups.ts";
import type { PodName, RealNode } from "../real_node.ts";
import { until } from "../until.ts";

/** Time in which a change must have gone through every hand. */
export const SETTLED = { timeoutMs: 60_000 };

/** The pod's allocation once its status says `Applied`. */
export function appliedAllocation(node: RealNode, { metadata }: Pod): Promise<PodAllocation> {
  return until(`applied allocation of ${metadata.name}`, async () => {
    const allocation = await node.allocation(metadata.namespace, metadata.uid);
    return allocation?.status?.phase === "Applied" ? allocation : undefined;
  }, SETTLED);
}

/** Waits until the status, the kubelet's status and the kernel's quota agree on each container. */
export async function assertAgreement(node: RealNode, name: PodName): Promise<void> {
  await until(`agreement about ${name.name}`, async () => {
    const pod = await node.pod(name);
    assert.ok(pod !== undefined);
    const allocation = await node.allocation(name.namespace, pod.metadata.uid);
    const { status } = allocation ?? {};
    assert.equal(status?.phase, "Applied", status?.message);
    const kubelet = pod.containers.map((
      { name, applied: { limits: { cpu: appliedLimitCPU } } },
    ) => [name, appliedLimitCPU]);
    const said = (status?.containers ?? []).map(({ name, cpuLimit }) => [name, parseCPU(cpuLimit)]);
    const { containers } = enforcedLimits(podDirectories(pod));
    assert.deepEqual(said, kubelet.filter(([, limit]) => limit !== undefined));
    assert.deepEqual([...containers], kubelet);
    return true;
  }, SETTLED);
}
