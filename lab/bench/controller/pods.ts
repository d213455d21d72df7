/**
 * Pods for the controller's benchmark on a node that is an object only: nothing runs there, and the
 * benchmark reports the status that a kubelet would.
 *
 * @module
 */
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { formatCPU } from "../../../shared/quantity.ts";

/** The node that is an object only. */
export const BENCH_NODE = "bench-controller-node";
const NODE = `/api/v1/nodes/${BENCH_NODE}`;
const STRATEGIC = "application/strategic-merge-patch+json";

/** The namespace of the controller's installation; the market leaves its pods alone. */
export const INSTALLATION = "default";

/** The original limit of each pod, millicores. */
const ORIGINAL_LIMIT = 200;
/** Requests at the same time. */
export const AT_ONCE = 8;

/** Where the pods are. */
export interface BenchPods {
  readonly connection: KubeConnection;
  readonly namespace: string;
  readonly count: number;
}

/** Name of the n-th pod. */
export function podName(index: number): string {
  return `pod-${index}`;
}

/** Calls `work` with 0 to `count` − 1, some at a time. */
export async function forAll(
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  }));
}

/** Makes node and pods; the result has the pods' UIDs. */
export async function createPods(bench: BenchPods): Promise<string[]> {
  const { connection, namespace, count } = bench;
  const node = { metadata: { name: BENCH_NODE }, spec: { taints: [TAINT] } };
  await connection.request({ method: "POST", path: "/api/v1/nodes", body: node });
  await beatNode(bench);
  const uids: string[] = [];
  await forAll(count, async (index) => {
    const created = await connection.request({
      method: "POST",
      path: `/api/v1/namespaces/${namespace}/pods`,
      body: {
        metadata: { name: podName(index) },
        spec: {
          nodeName: BENCH_NODE,
          automountServiceAccountToken: false,
          tolerations: [{ operator: "Exists" }],
          containers: [{ name: "app", image: "none", resources: resources(ORIGINAL_LIMIT) }],
        },
      },
    }) as { readonly metadata: { readonly uid: string } };
    uids[index] = created.metadata.uid;
    await reportLimit(bench, { index, limitCPU: ORIGINAL_LIMIT });
  });
  return uids;
}

const TAINT = { key: "bench", effect: "NoSchedule" };

function resources(limitCPU: number): Readonly<Record<"requests" | "limits", object>> {
  return {
    requests: { cpu: "100m", memory: "16Mi" },
    limits: { cpu: formatCPU(limitCPU), memory: "32Mi" },
  };
}

/** Removes the node; the pods go with their namespace. */
export async function removeNode({ connection }: BenchPods): Promise<void> {
  await connection.request({ method: "DELETE", path: NODE });
}

/** The node's sign of life: without one for 40 s the node would no longer count as Ready. */
export async function beatNode({ connection, count }: BenchPods): Promise<void> {
  const room = { cpu: String(count), memory: "1Ti", pods: String(count + 10) };
  const lastHeartbeatTime = new Date().toISOString();
  await connection.request({
    method: "PATCH",
    path: `${NODE}/status`,
    contentType: STRATEGIC,
    body: {
      status: {
        allocatable: room,
        capacity: room,
        conditions: [{ type: "Ready", status: "True", reason: "Bench", lastHeartbeatTime }],
      },
    },
  });
}

/** Reports the limit as a kubelet would once it is in the cgroup. */
export async function reportLimit(
  { connection, namespace }: BenchPods,
  { index, limitCPU }: { readonly index: number; readonly limitCPU: number },
): Promise<void> {
  const { requests, limits } = resources(limitCPU);
  await connection.request({
    method: "PATCH",
    path: `/api/v1/namespaces/${namespace}/pods/${podName(index)}/status`,
    contentType: STRATEGIC,
    body: {
      status: {
        phase: "Running",
        conditions: [{ type: "Ready", status: "True" }],
        containerStatuses: [{
          name: "app",
          containerID: `containerd://${String(index).padStart(64, "0")}`,
          image: "none",
          imageID: "none",
          ready: true,
          started: true,
          restartCount: 0,
          state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
          allocatedResources: requests,
          resources: { requests, limits },
        }],
      },
    },
  });
}
