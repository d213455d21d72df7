/**
 * The pods of the benchmark of reaction times, and how a node's CPU becomes scarce.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { IdleCPU } from "../../shared/config/idle_cpu_row.ts";
import { appliedAllocation } from "../../tests/cluster/scene/agreement.ts";
import { type LoadContainer, loadPod } from "../../tests/cluster/scene/load_pod.ts";
import type { RealNode } from "../../tests/cluster/scene/real_node.ts";
import { pause } from "../../tests/cluster/scene/until.ts";
import { type Target, targetOf } from "./scene.ts";

/** How long a burst lasts. */
export const BURST_SECONDS = 2;
const CPUS = navigator.hardwareConcurrency;

/** The pods that burst: how many, and what one of them is. */
const BURSTING: Readonly<
  Record<IdleCPU, { readonly count: number; readonly container: Partial<LoadContainer> }>
> = {
  // Bursts of a pod lie far apart, so that its limit comes back to its floor in between.
  tight: { count: 25, container: { request: "30m", limit: "30m" } },
  free: { count: 8, container: { request: "100m", limit: "100m", threads: CPUS } },
};

/** Makes the pods that burst. */
export async function burstingPods(
  node: RealNode,
  { namespace, idleCPU }: { readonly namespace: string; readonly idleCPU: IdleCPU },
): Promise<readonly Target[]> {
  const { count, container } = BURSTING[idleCPU];
  const annotations = { "mbcas.io/priority-multiplier": idleCPU === "free" ? "0.5" : "1" };
  const load = { name: "load", burstSeconds: BURST_SECONDS, ...container };
  const pods: Pod[] = [];
  for (let i = 0; i < count; i++) {
    const pod = loadPod({ name: `burst-${i}`, namespace, annotations, containers: [load] });
    pods.push(await node.run(pod));
  }
  return await Promise.all(pods.map(async (pod) => {
    const { status } = await appliedAllocation(node, pod);
    return targetOf(pod, status?.bounds?.containers[0]?.ceiling ?? Infinity);
  }));
}

/** Makes a pod outside of the market, without requests, that is busy on all CPUs. */
export async function saturatingPod(node: RealNode, namespace: string): Promise<void> {
  await node.run(loadPod({
    name: "saturating",
    namespace,
    labels: { "mbcas.io/managed": "false" },
    containers: [{ name: "load", busy: true, threads: CPUS }],
  }));
}

/**
 * Makes a participant that is busy on all CPUs. Beside eight bursts weights of the kernel, which are
 * the requests, give it a third of the node, and the market half.
 */
export async function busyPod(node: RealNode, namespace: string): Promise<void> {
  const load = { name: "load", request: "400m", limit: "500m", busy: true, threads: CPUS };
  await appliedAllocation(
    node,
    await node.run(loadPod({ name: "busy", namespace, containers: [load] })),
  );
}

/** Rests are this long, ms: limits go back to their ceilings after 10 s. */
const REST_MS = 1500;
const MOST_BURSTS = 8;
/** Millicores: what a bursting pod gets of the node is 115 if all burst, and 200 if it is alone. */
const RATIONED = 150;

/**
 * Starts bursts in all pods at once, again and again, until their limits have been lowered because
 * the busy pod gets too little; then lets them rest. Returns whether all limits were lowered.
 */
export async function ration(targets: readonly Target[]): Promise<boolean> {
  const areLowered = () => targets.every(({ limit }) => limit() <= RATIONED);
  for (let i = 0; i < MOST_BURSTS && !areLowered(); i++) {
    for (const { pid } of targets) Deno.kill(pid, "SIGUSR1");
    await pause(1000 * BURST_SECONDS);
  }
  await pause(REST_MS);
  return areLowered();
}
