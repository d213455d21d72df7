/**
 * The state of a pod's limits: in the kernel, and in the product's status.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { Pod } from "../../../../shared/api/pod.ts";
import type { Bounds, ContainerBounds } from "../../../../shared/api/pod_allocation.ts";
import { SETTLED } from "./agreement.ts";
import { enforcedLimits, podDirectories } from "./node_cgroups.ts";
import type { PodName, RealNode } from "../real_node.ts";
import { until, type UntilOptions } from "../until.ts";

/** Millicores that the kernel allows container `load` of the pod, which must exist. */
export async function quotaOf(node: RealNode, name: PodName): Promise<number> {
  return enforcedLimits(podDirectories(await thePod(node, name))).containers.get("load") ?? 0;
}

/** The pod, which must exist. */
export async function thePod(node: RealNode, name: PodName): Promise<Pod> {
  return await node.pod(name) ?? assert.fail(`pod ${name.name} is gone`);
}

/** The pod's bounds; undefined while there are none. */
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

/** Waits until the quota is what `test` wants, and returns it. */
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
