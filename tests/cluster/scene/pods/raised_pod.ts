/**
 * Pods with a limit that the market has raised, until they get the original one back.
 *
 * @module
 */
import assert from "node:assert/strict";
import { appliedAllocation, SETTLED } from "./agreement.ts";
import { quotaOf, whenQuota } from "./limits.ts";
import { loadPod } from "./load_pod.ts";
import type { PodName, RealNode } from "../real_node.ts";
import { pause } from "../until.ts";

/** Original limit of such a pod, millicores: small, so that several are raised beside each other. */
export const RAISED_OWN = 100;
/** More than this is a raise. */
export const RAISED = 2 * RAISED_OWN;

/** Makes a pod with a load that goes on, and waits until its limit is raised. */
export async function raisedPod(node: RealNode, name: PodName): Promise<void> {
  const containers = [
    { name: "load", request: "50m", limit: `${RAISED_OWN}m`, burstSeconds: 300 },
  ];
  const pod = await node.run(loadPod({ ...name, containers }));
  await appliedAllocation(node, pod);
  await node.signal(name, "load");
  await whenRaised(node, name);
}

/** Waits until the pod's limit is raised. */
export async function whenRaised(
  node: RealNode,
  name: PodName,
  options = SETTLED,
): Promise<void> {
  await whenQuota(node, name, (quota) => quota > RAISED, options);
}

/**
 * Fails unless the pod's original limit comes back, in spec and kernel, and stays for three seconds.
 */
export async function assertRestored(
  node: RealNode,
  name: PodName,
  own = RAISED_OWN,
): Promise<void> {
  await whenQuota(node, name, (quota) => quota === own, SETTLED);
  for (let i = 0; i < 30; i++) {
    await pause(100);
    assert.equal(await quotaOf(node, name), own);
  }
  assert.equal((await node.pod(name))?.containers[0]?.limits.cpu, own);
}
