/**
 * A node of the simulated cluster: its CPUs, and what its kubelet does with them.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { ContainerRuntime } from "../../../lab/simulation/kubelet.ts";
import {
  createSimulatedNode,
  type SimulatedNode,
} from "../../../lab/simulation/node/simulated_node.ts";
import { LOADED_PODS, workOf } from "./cluster_load.ts";

/** CPUs of a node. */
export const NODE_CORES = 2;

/** The ceiling of every limit, millicores: 90 % of the node. */
export const NODE_CEILING = 0.9 * 1000 * NODE_CORES;

/** The node and its container runtime. */
export interface ClusterNode {
  readonly node: SimulatedNode;
  readonly runtime: ContainerRuntime;
}

/** An empty node. */
export function createClusterNode(
  { seed, now }: { readonly seed: number; readonly now: () => number },
): ClusterNode {
  const node = createSimulatedNode({ cores: NODE_CORES, random: seededRandom(seed) });
  /** Pods on the node, by UID. */
  const pods = new Map<string, { readonly name: string; containerID: string }>();

  function put(uid: string): void {
    const { name, containerID } = pods.get(uid) ?? {};
    const loaded = LOADED_PODS.find((one) => one.name === name);
    if (loaded === undefined || containerID === undefined) return;
    const { request, limit, threads } = loaded;
    const workload = workOf(loaded, now());
    node.addPod({ uid, containers: [{ id: containerID, request, limit, threads, workload }] });
  }

  /** The change, on a node that has run until now; a pod that is gone has nothing to change. */
  function onNode(change: () => void): void {
    node.advance(now());
    try {
      change();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }

  return {
    node,
    runtime: {
      setContainerQuota: (id, quota) => onNode(() => node.setContainerQuota(id, quota)),
      setPodQuota: (uid, quota) => onNode(() => node.setPodQuota(uid, quota)),
      setContainerRequest: (id, request) => onNode(() => node.setContainerRequest(id, request)),
      startPod: ({ metadata: { uid, name }, containers: [container] }: Pod) =>
        onNode(() => {
          const containerID = container?.containerID?.split("//")[1];
          if (containerID === undefined) return;
          if (pods.has(uid)) node.removePod(uid);
          pods.set(uid, { name, containerID });
          put(uid);
        }),
      stopPod: (uid) =>
        onNode(() => {
          pods.delete(uid);
          node.removePod(uid);
        }),
      containerID: (uid) => pods.get(uid)?.containerID,
      replaceContainer: (oldID, newID) =>
        onNode(() => {
          const [uid, pod] = [...pods].find(([, one]) => one.containerID === oldID) ?? [];
          if (uid === undefined || pod === undefined) return;
          pod.containerID = newID;
          node.removePod(uid);
          put(uid);
        }),
    },
  };
}
