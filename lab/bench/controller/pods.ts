/**
 * Pods for the controller's benchmark on a node that is an object only: nothing runs there, and the
 * benchmark reports the status that a kubelet would.
 *
 * @module
 */
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { podPath, type RealNode } from "../../../tests/cluster/scene/real_node.ts";
import { formatCPU } from "../../../shared/quantity.ts";

/** The node that is an object only. */
export const BENCH_NODE = "bench-controller-node";
const NODE = `/api/v1/nodes/${BENCH_NODE}`;

/** The original limit of each pod, millicores. */
const ORIGINAL_LIMIT = 200;
/** Requests at the same time. */
export const AT_ONCE = 8;

/** Where the pods are. */
export interface BenchPods {
  readonly api: RealNode;
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
  const { api, namespace, count } = bench;
  const spec = { taints: [TAINT] };
  await api.create("/api/v1/nodes", { metadata: { name: BENCH_NODE }, spec });
  await beatNode(bench);
  const uids: string[] = [];
  await forAll(count, async (index) => {
    const created = await api.create(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: podName(index) },
      spec: {
        nodeName: BENCH_NODE,
        automountServiceAccountToken: false,
        tolerations: [{ operator: "Exists" }],
        containers: [{ name: "app", image: "none", resources: resources(ORIGINAL_LIMIT) }],
      },
    });
    uids[index] = parseIdentity(created).uid;
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
export async function removeNode({ api }: BenchPods): Promise<void> {
  await api.remove(NODE);
}

/** The node's sign of life: without one for 40 s the node would no longer count as Ready. */
export async function beatNode({ api, count }: BenchPods): Promise<void> {
  const room = { cpu: String(count), memory: "1Ti", pods: String(count + 10) };
  const lastHeartbeatTime = new Date().toISOString();
  const conditions = [{ type: "Ready", status: "True", reason: "Bench", lastHeartbeatTime }];
  await api.merge(`${NODE}/status`, { status: { allocatable: room, capacity: room, conditions } });
}

/** Reports the limit as a kubelet would once it is in the cgroup. */
export async function reportLimit(
  { api, namespace }: BenchPods,
  { index, limitCPU }: { readonly index: number; readonly limitCPU: number },
): Promise<void> {
  const { requests, limits } = resources(limitCPU);
  const container = {
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
  };
  await api.merge(`${podPath({ namespace, name: podName(index) })}/status`, {
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [container],
    },
  });
}
