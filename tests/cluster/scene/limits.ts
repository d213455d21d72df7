/**
 * The state of pods' limits: in the kernel, by the kubelet, and in the product's status.
 *
 * @module
 */
import { patchRequest } from "../../../adapters/kube/client/connection.ts";
import assert from "node:assert/strict";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Bounds, ContainerBounds, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { enforcedLimits, podDirectories } from "./node_cgroups.ts";
import type { NamespaceMarks, PodName, RealNode } from "./real_node.ts";
import { pause, until, type UntilOptions } from "./until.ts";
import { parseCPU } from "../../../shared/quantity.ts";
import { loadPod } from "./load_pod.ts";
import type { EnforcementReason } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";

/** Millicores that the kernel allows a container of the pod, which must exist. */
export async function quotaOf(
  node: RealNode,
  name: PodName,
  container = "load",
): Promise<number> {
  return enforcedLimits(podDirectories(await thePod(node, name))).containers.get(container) ?? 0;
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

/** The message of the pod's status once that gives this reason. */
export async function whenReason(
  node: RealNode,
  name: PodName,
  reason: EnforcementReason,
): Promise<string> {
  return await until(`${reason} of ${name.namespace}/${name.name}`, async () => {
    const { metadata } = await thePod(node, name);
    const { status } = await node.allocation(name.namespace, metadata.uid) ?? {};
    if (status?.reason === reason) return status.message ?? "";
    throw new Error(`the reason is ${status?.reason}: ${status?.message}`);
  }, { timeoutMs: 90_000 });
}

/** Waits until the pod has no allocation any more. */
export async function whenUnallocated(
  node: RealNode,
  { namespace, uid }: { readonly namespace: string; readonly uid: string },
): Promise<void> {
  await until(
    "end of the allocation",
    async () => await node.allocation(namespace, uid) === undefined || undefined,
    SETTLED,
  );
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

/** Original limit of the pod, millicores: small, so that many of them fit a busy machine. */
export const WAITING_OWN = 40;

/** For its namespace: outside of the market, and limits may be doubled. */
export const OUTSIDE: NamespaceMarks = {
  labels: { "mbcas.io/burst-factor": "2", "mbcas.io/managed": "false" },
};

/** Makes the pod, and waits until it runs under its original limit. */
export async function waitingPod(node: RealNode, namespace: string): Promise<PodName> {
  const name = { namespace, name: "web" };
  const containers = [{ name: "load", request: "10m", limit: `${WAITING_OWN}m`, busy: true }];
  await node.run(loadPod({ ...name, containers }), { timeoutMs: 120_000 });
  assert.equal(await quotaOf(node, name), WAITING_OWN);
  return name;
}

/** Takes the namespace into the market. */
export async function takeIn({ connection }: RealNode, namespace: string): Promise<void> {
  await connection.request(
    patchRequest("merge", {
      path: `/api/v1/namespaces/${namespace}`,
      body: { metadata: { labels: { "mbcas.io/managed": "true" } } },
    }),
  );
}

/**
 * Makes the pod. Its weight and its original limit are those of a giant; it uses nothing, and since it
 * is never Ready its original limit stays.
 */
export async function crowd(node: RealNode, namespace: string): Promise<PodName> {
  const name = "crowd";
  const containers = [
    { name: "load", request: "300m", limit: "1800m", readyFile: "/tmp/never" },
  ];
  await node.create(
    `/api/v1/namespaces/${namespace}/pods`,
    loadPod({ name, namespace, containers }),
  );
  return { namespace, name };
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
