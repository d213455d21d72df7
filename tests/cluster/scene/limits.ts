/**
 * The state of pods' limits: in the kernel, by the kubelet, and in the product's status.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Bounds, ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { enforcedLimits, podDirectories } from "./node_cgroups.ts";
import type { PodName, RealNode } from "./real_node.ts";
import { until, type UntilOptions } from "./until.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";

/** Millicores that the kernel allows container `load` of the pod, which must exist. */
export async function quotaOf(node: RealNode, name: PodName): Promise<number> {
  return enforcedLimits(podDirectories(await thePod(node, name))).containers.get("load") ?? 0;
}

export async function thePod(node: RealNode, name: PodName): Promise<Pod> {
  return await node.pod(name) ?? assert.fail(`pod ${name.name} is gone`);
}

export async function boundsOf(node: RealNode, name: PodName): Promise<Bounds | undefined> {
  const { metadata } = await thePod(node, name);
  return (await node.allocation(name.namespace, metadata.uid))?.status?.bounds;
}

/** Bounds of container `load` once the reasons of the pod's bounds have this one among them. */
export async function boundBy(
  node: RealNode,
  name: PodName,
  reason: string,
): Promise<ContainerBounds> {
  return await until(`${reason} in the bounds of ${name.name}`, async () => {
    const bounds = await boundsOf(node, name);
    const load = bounds?.containers.find((one) => one.name === "load");
    if (bounds?.reason.split(", ").includes(reason) && load !== undefined) return load;
    throw new Error(`the bounds are by ${bounds?.reason}`);
  }, SETTLED);
}

export function whenQuota(
  node: RealNode,
  name: PodName,
  test: (quota: number) => boolean,
  options: UntilOptions = { timeoutMs: 150_000 },
): Promise<number> {
  return until(`other quota of ${name.name}`, async () => {
    const quota = await quotaOf(node, name);
    if (test(quota)) return quota;
    throw new Error(`it is ${quota} m`);
  }, options);
}

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
    const kubelet = pod.containers.map(({ name, applied: { limits } }) => [name, limits.cpu]);
    const said = (status?.containers ?? []).map(({ name, cpuLimit }) => [name, parseCPU(cpuLimit)]);
    const { containers } = enforcedLimits(podDirectories(pod));
    assert.deepEqual(said, kubelet.filter(([, limit]) => limit !== undefined));
    assert.deepEqual([...containers], kubelet);
    return true;
  }, SETTLED);
}

/** Those that are not ending, the oldest first. */
export async function deploymentPods(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: PodName,
): Promise<readonly Pod[]> {
  const query = { labelSelector: `app=${name}` };
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const { items } = objectOf(await connection.request({ path, query }));
  return listOf(items)
    .map((item) => ({ pod: parsePod(item), created: createdAt(item) }))
    .filter(({ pod }) => !pod.metadata.terminating)
    .sort((a, b) => a.created.localeCompare(b.created))
    .map(({ pod }) => pod);
}

/** The oldest pod of the Deployment once it is Ready. */
export function readyPod(
  node: Pick<RealNode, "connection">,
  name: PodName,
  options: UntilOptions = SETTLED,
): Promise<Pod> {
  return until(`ready pod of ${name.name}`, async () => {
    const [first] = await deploymentPods(node, name);
    return first?.ready ? first : undefined;
  }, options);
}

function createdAt(item: unknown): string {
  return String(objectOf(objectOf(item).metadata).creationTimestamp);
}
