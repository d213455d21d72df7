/**
 * Pods for the controller's benchmark on a node that is an object only: nothing runs there, and the
 * benchmark reports the status that a kubelet would.
 *
 * @module
 */
import { type KubeConnection, pathPart } from "../../../adapters/kube/client/connection.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import { formatCPU } from "../../../shared/quantity.ts";

/** Where the benchmark's objects are. */
export const BENCH_NAMESPACE = "bench-controller";

/** The node that is an object only. */
export const BENCH_NODE = "bench-controller-node";
const PODS = `/api/v1/namespaces/${BENCH_NAMESPACE}/pods`;
const STRATEGIC = "application/strategic-merge-patch+json";

/** The original limit of each pod, millicores. */
const ORIGINAL_LIMIT = 200;

/** Name of the n-th pod. */
export function podName(index: number): string {
  return `pod-${index}`;
}

/** Calls `work` with 0 to `count` − 1, at most `atOnce` at a time. */
export async function forAll(
  { count, atOnce }: { readonly count: number; readonly atOnce: number },
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: atOnce }, async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  }));
}

/** Makes node, namespace and pods; what is there from before is kept. */
export async function createPods(connection: KubeConnection, count: number): Promise<void> {
  await create(connection, "/api/v1/nodes", {
    metadata: { name: BENCH_NODE },
    spec: { taints: [{ key: "bench", effect: "NoSchedule" }] },
  });
  await beatNode(connection, count);
  await create(connection, "/api/v1/namespaces", {
    metadata: { name: BENCH_NAMESPACE, labels: { "mbcas.io/managed": "true" } },
  });
  await forAll({ count, atOnce: 8 }, async (index) => {
    const name = podName(index);
    await create(connection, PODS, {
      metadata: { name },
      spec: {
        nodeName: BENCH_NODE,
        serviceAccountName: "default",
        automountServiceAccountToken: false,
        tolerations: [{ operator: "Exists" }],
        containers: [{
          name: "app",
          image: "none",
          resources: {
            requests: { cpu: "100m", memory: "16Mi" },
            limits: { cpu: formatCPU(ORIGINAL_LIMIT), memory: "32Mi" },
          },
        }],
      },
    });
    await reportLimit(connection, { index, limitCPU: ORIGINAL_LIMIT });
  });
}

/** The node's sign of life: without one for 40 s the node would no longer count as Ready. */
export async function beatNode(connection: KubeConnection, count: number): Promise<void> {
  const room = { cpu: String(count), memory: "1Ti", pods: String(count + 10) };
  const lastHeartbeatTime = new Date().toISOString();
  await connection.request({
    method: "PATCH",
    path: `/api/v1/nodes/${BENCH_NODE}/status`,
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

/** What a kubelet would report once the limit stands in the cgroup. */
export async function reportLimit(
  connection: KubeConnection,
  { index, limitCPU }: { readonly index: number; readonly limitCPU: number },
): Promise<void> {
  const resources = {
    requests: { cpu: "100m", memory: "16Mi" },
    limits: { cpu: formatCPU(limitCPU), memory: "32Mi" },
  };
  const startedAt = "2026-01-01T00:00:00Z";
  await connection.request({
    method: "PATCH",
    path: `${PODS}/${pathPart(podName(index))}/status`,
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
          state: { running: { startedAt } },
          allocatedResources: resources.requests,
          resources,
        }],
      },
    },
  });
}

/** Removes all that the benchmark made, and waits until it is gone; so a next run finds nothing. */
export async function removePods(connection: KubeConnection, count: number): Promise<void> {
  await forAll({ count, atOnce: 8 }, async (index) => {
    const path = `${PODS}/${pathPart(podName(index))}`;
    await remove(connection, path, { gracePeriodSeconds: "0" });
  });
  await remove(connection, `/api/v1/namespaces/${BENCH_NAMESPACE}`);
  await remove(connection, `/api/v1/nodes/${BENCH_NODE}`);
  for (let tries = 1; await exists(connection, `/api/v1/namespaces/${BENCH_NAMESPACE}`); tries++) {
    if (tries > TRIES) throw new Error(`Cannot remove namespace ${BENCH_NAMESPACE}: it stays`);
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
}

/** In a new namespace the account of pods is made a moment later: until then pods are refused. */
const TRIES = 50;

async function create(connection: KubeConnection, path: string, body: unknown): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await connection.request({ method: "POST", path, body });
      return;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.status === 409) return;
      if (error.status !== 403 || tries === TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
}

async function exists(connection: KubeConnection, path: string): Promise<boolean> {
  try {
    await connection.request({ path });
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return false;
    throw error;
  }
}

async function remove(
  connection: KubeConnection,
  path: string,
  query: Readonly<Record<string, string>> = {},
): Promise<void> {
  try {
    await connection.request({ method: "DELETE", path, query });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}
