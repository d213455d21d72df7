/**
 * Loadable pods on the real node, and the time from a burst to the quota that answers it.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { podDirectories, processOne, quotaOf } from "../../../tests/cluster/scene/node_cgroups.ts";
import type { RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";
import type { IdleCPU } from "../../../shared/config/schema.ts";
import { appliedAllocation } from "../../../tests/cluster/scene/limits.ts";
import { type LoadPod, loadPod } from "../../../tests/cluster/scene/load_pod.ts";

/** Where the limit goes that answers a burst: `up` its own, `down` that of a neighbour. */
export type Direction = "up" | "down";

/** The answer to a burst. */
export interface Answer {
  /** From the begin of the burst to the container's other quota, ms. */
  readonly tookMs: number;
  /** The quota, millicores. */
  readonly to: number;
}

/** A container in which bursts can be started. */
export interface Target {
  /** Process 1 of the container, as this machine numbers it. */
  readonly pid: number;
  /** The most that the market may give it, millicores. */
  readonly ceiling: number;
  /** The container's limit by its cgroup, millicores. */
  limit(): number;
}

/** A container that bursts, and the one with a quota that answers the burst, which may be the same. */
export interface Pair {
  readonly bursts: Target;
  readonly answers: Target;
}

/** Finds the cgroup and the process of a pod's container `load`. */
function targetOf(pod: Pod, ceiling: number): Target {
  const { containers, version } = podDirectories(pod);
  const container = containers.get("load") ?? "";
  return {
    pid: processOne(pod, "load"),
    ceiling,
    limit: () => quotaOf(container, version) ?? Infinity,
  };
}

/** How often the quota is looked at, ms. It bounds the error of a time. */
const LOOK_MS = 2;

/** Starts a burst and waits until the quota has moved; undefined when it has not in time. */
export async function burst(
  { bursts, answers: { limit } }: Pair,
  { timeoutMs, direction }: { readonly timeoutMs: number; readonly direction: Direction },
): Promise<Answer | undefined> {
  const from = limit();
  const begun = performance.now();
  Deno.kill(bursts.pid, "SIGUSR1");
  for (;;) {
    const tookMs = performance.now() - begun;
    const to = limit();
    if (direction === "up" ? to > from : to < from) return { tookMs, to };
    if (tookMs > timeoutMs) return undefined;
    await pause(LOOK_MS);
  }
}

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
