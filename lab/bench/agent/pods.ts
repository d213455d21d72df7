/**
 * The pods of the agent's benchmark, and their allocations.
 *
 * @module
 */
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";

/** A pod with one container and a sandbox. */
export interface BenchPod {
  readonly uid: string;
  readonly containerID: string;
  readonly sandboxID: string;
  /** Millicores. */
  readonly request: number;
  readonly limit: number;
}

/** The node that they run on. */
export const BENCH_NODE = "bench-node";
/** Their namespace. */
export const BENCH_NAMESPACE = "bench";

const REQUEST = 100;
const LIMIT = 500;
const BURST_FACTOR = 8;
const ID_DIGITS = 63;

/** That many pods, the same each time. */
export function benchPods(count: number): BenchPod[] {
  return Array.from({ length: count }, (_, index): BenchPod => {
    const digits = index.toString(16);
    return {
      uid: `5d0b4f6e-9a51-4c0f-8a7b-${digits.padStart(12, "0")}`,
      containerID: `c${digits.padStart(ID_DIGITS, "0")}`,
      sandboxID: `5${digits.padStart(ID_DIGITS, "0")}`,
      request: REQUEST,
      limit: LIMIT,
    };
  });
}

/** A pod's allocation as the controller publishes it, before the agent's first clearing. */
export function benchAllocation({ uid, containerID, limit }: BenchPod): PodAllocation {
  return {
    apiVersion: "allocation.mbcas.io/v1alpha1",
    kind: "PodAllocation",
    metadata: { name: uid, namespace: BENCH_NAMESPACE, uid: `a-${uid}`, resourceVersion: "1" },
    spec: {
      podName: `pod-${uid.slice(-4)}`,
      podUID: uid,
      nodeName: BENCH_NODE,
      namespace: BENCH_NAMESPACE,
    },
    status: {
      bounds: {
        revision: 1,
        reason: `original limit × ${BURST_FACTOR}`,
        containers: [{
          name: "app",
          containerID: `containerd://${containerID}`,
          floor: REQUEST,
          ceiling: limit * BURST_FACTOR,
          weight: REQUEST,
        }],
      },
      originalLimits: [{ name: "app", cpu: `${limit}m` }],
    },
  };
}
