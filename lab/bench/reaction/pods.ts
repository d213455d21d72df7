/**
 * The pods of the benchmark of reaction times.
 *
 * @module
 */
import type { IdleCPU } from "../../../shared/config/schema.ts";
import { appliedAllocation } from "../../../tests/cluster/scene/pods/agreement.ts";
import { type LoadPod, loadPod } from "../../../tests/cluster/scene/pods/load_pod.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { type Pair, type Target, targetOf } from "./scene.ts";

const CPUS = navigator.hardwareConcurrency;
/** In `tight` bursts of one pod lie far apart, so that its limit comes back to its floor in between. */
const PODS = 25;

/** How long a burst lasts, s. */
export const BURST_SECONDS = { tight: 2, free: 5 } as const;

/** Makes the pods that burst, and those with quotas that answer. */
export async function burstingPairs(
  node: RealNode,
  { namespace, idleCPU }: { readonly namespace: string; readonly idleCPU: IdleCPU },
): Promise<readonly Pair[]> {
  const make = (pod: Omit<LoadPod, "namespace">): Promise<Target> =>
    makeTarget(node, { namespace, ...pod });
  const burstSeconds = BURST_SECONDS[idleCPU];
  if (idleCPU === "tight") {
    const load = { name: "load", request: "30m", limit: "30m", burstSeconds };
    const pairs: Pair[] = [];
    for (let i = 0; i < PODS; i++) {
      const target = await make({ name: `burst-${i}`, containers: [load] });
      pairs.push({ bursts: target, answers: target });
    }
    return pairs;
  }
  // By requests, the kernel's weights, a burst gets a sixth of the node, and two thirds by priority.
  const bursts = await make({
    name: "service",
    annotations: { "mbcas.io/priority-multiplier": "10" },
    containers: [{ name: "load", request: "100m", limit: "500m", threads: CPUS, burstSeconds }],
  });
  const answers = await make({
    name: "neighbour",
    containers: [{ name: "load", request: "500m", limit: "500m", threads: 4 * CPUS, busy: true }],
  });
  return [{ bursts, answers }];
}

async function makeTarget(node: RealNode, pod: LoadPod): Promise<Target> {
  const running = await node.run(loadPod(pod));
  const { status } = await appliedAllocation(node, running);
  return targetOf(running, status?.bounds?.containers[0]?.ceiling ?? Infinity);
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
