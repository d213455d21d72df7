/**
 * A real cluster for the contract suites: objects that are made, changed and removed, each test in a
 * namespace of its own.
 *
 * @module
 */
import type {
  KubeConnection,
  OpenKubeConnection,
} from "../../../adapters/kube/client/connection.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type { Pod, PodContainer, ResourceAmounts } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { openRealNode, scratchNamespace } from "./real_node.ts";
import { pause } from "./until.ts";

/** A namespace of the cluster, and a client with all rights in it. */
export interface ContractWorld {
  readonly connection: OpenKubeConnection;
  readonly namespace: string;
  /** A node with a kubelet. */
  readonly nodeName: string;
  close(): Promise<void>;
  /** The object at this path; undefined when it is not there. */
  find(path: string): Promise<unknown>;
  /** Makes a pod that no scheduler and no kubelet sees. */
  idlePod(name: string, labels?: Readonly<Record<string, string>>): Promise<Pod>;
  /** Makes a pod of these containers, and waits until it runs. */
  runningPod(name: string, containers: readonly PodContainer[]): Promise<Pod>;
  pod(pod: Pod): Promise<Pod | undefined>;
  allocation(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

/** A world in the cluster that `KUBECONFIG` names. The end of its namespace is not waited for. */
export async function openContractWorld(): Promise<ContractWorld> {
  const node = await openRealNode();
  const { connection, find, create, run, pod, allocation } = node;
  const scratch = await scratchNamespace(connection);
  const { name: namespace } = scratch;
  return {
    connection,
    namespace,
    nodeName: parseIdentity((await node.items("/api/v1/nodes"))[0]).name,
    find,
    async close() {
      await scratch.remove();
      connection.close();
    },
    idlePod: async (name, labels = {}) =>
      parsePod(
        await create(`/api/v1/namespaces/${namespace}/pods`, {
          metadata: { name, labels },
          spec: {
            schedulerName: "none",
            containers: [{ name: "app", image: "busybox:stable" }],
          },
        }),
      ),
    runningPod: (name, containers) =>
      run({
        metadata: { name, namespace },
        spec: {
          terminationGracePeriodSeconds: 0,
          containers: containers.filter(({ sidecar }) => !sidecar).map(containerSpec),
          initContainers: containers.filter(({ sidecar }) => sidecar).map(containerSpec),
        },
      }),
    pod: ({ metadata: { name } }) => pod({ namespace, name }),
    allocation: ({ metadata: { name } }) => allocation(namespace, name),
  };
}

/** A container as a manifest has it, of an image that waits for its end. */
export function containerSpec(
  { name, sidecar, requests, limits }: PodContainer,
): Record<string, unknown> {
  const list = ({ cpu, memory }: ResourceAmounts): Record<string, string> => ({
    ...(cpu === undefined ? {} : { cpu: formatCPU(cpu) }),
    ...(memory === undefined ? {} : { memory: String(memory) }),
  });
  return {
    name,
    image: "busybox:stable",
    imagePullPolicy: "IfNotPresent",
    command: ["sh", "-c", "trap 'exit 0' TERM; sleep 2147483647 & wait"],
    resources: { requests: list(requests), limits: list(limits) },
    ...(sidecar ? { restartPolicy: "Always" } : {}),
  };
}

/** Before anything that was ever written. */
const FIRST_VERSION = "1";

/** How long a watch that starts may stay silent before it counts as accepted. */
const ACCEPTED_AFTER_MS = 500;

/** Long enough that the cache need not grow by thousands until its first event is old. */
const BETWEEN_BATCHES_MS = 2_000;

/**
 * A server answers a watch with 410 once its watch cache has let go of what came after the version.
 * A young server still holds all of it: it keeps at least 100 events of a kind, and more while they
 * are younger than 75 s (kube-apiserver, staging/src/k8s.io/apiserver/pkg/storage/cacher,
 * `defaultLowerBoundCapacity` and `DefaultEventFreshDuration`). So objects are written with `write`,
 * 100 at a time, until the server has let go. Throws when it never does.
 */
export async function expiredVersion(
  subject: ListWatch<ApiObject>,
  write: () => Promise<void>,
): Promise<string> {
  const deadline = performance.now() + 120_000;
  while (await accepts(subject, FIRST_VERSION)) {
    if (performance.now() > deadline) {
      throw new Error(
        `Cannot go on: after 120 s of writes the server still watches from ${FIRST_VERSION}`,
      );
    }
    for (let written = 0; written < 100; written++) await write();
    await pause(BETWEEN_BATCHES_MS);
  }
  return FIRST_VERSION;
}

async function accepts(subject: ListWatch<ApiObject>, version: string): Promise<boolean> {
  const stop = new AbortController();
  const timer = setTimeout(() => stop.abort(), ACCEPTED_AFTER_MS);
  try {
    for await (const _event of subject.watch(version, stop.signal)) return true;
    return true;
  } catch (error) {
    if (error instanceof ApiError && error.status === 410) return false;
    throw error;
  } finally {
    clearTimeout(timer);
    stop.abort();
  }
}

/** The server's answer: undefined where it takes the object, else its status and message. */
export type Refusal = Pick<ApiError, "status" | "message"> | undefined;

/** Fields that the schema does not know are the server's to judge, not a client's. */
const QUERY = { dryRun: "All", fieldValidation: "Ignore" };

export function tryCreate(
  connection: KubeConnection,
  { path, body }: { readonly path: string; readonly body: unknown },
): Promise<Refusal> {
  return refusalOf(connection.request({ method: "POST", path, query: QUERY, body }));
}

export function tryPatch(
  connection: KubeConnection,
  { path, body }: { readonly path: string; readonly body: unknown },
): Promise<Refusal> {
  const contentType = "application/merge-patch+json";
  return refusalOf(connection.request({ method: "PATCH", path, query: QUERY, contentType, body }));
}

async function refusalOf(request: Promise<unknown>): Promise<Refusal> {
  try {
    await request;
    return undefined;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}
