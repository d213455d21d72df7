/**
 * What the contract suites need of a real cluster: objects that are made, changed and removed, each
 * test in a namespace of its own.
 *
 * @module
 */
import { contractTest } from "../../contract/support/contract_harness.ts";
import { parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
import type {
  KubeConnection,
  KubeRequest,
  OpenKubeConnection,
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, PodContainer, ResourceAmounts } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { pause, until } from "./until.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";

/** A namespace of the cluster, and hands in it with all rights. */
export interface ContractWorld {
  readonly connection: OpenKubeConnection;
  readonly namespace: string;
  /** A node with a kubelet. */
  readonly nodeName: string;
  close(): Promise<void>;
  /** The answer; undefined when there is no such object. */
  find(request: KubeRequest): Promise<unknown>;
  /** Makes a pod that no scheduler and no kubelet sees. */
  idlePod(name: string, labels?: Readonly<Record<string, string>>): Promise<Pod>;
  /** Makes a pod of these containers, and waits until it runs. */
  runningPod(name: string, containers: readonly PodContainer[]): Promise<Pod>;
  pod(pod: Pod): Promise<Pod | undefined>;
  allocation(allocation: PodAllocation): Promise<PodAllocation | undefined>;
}

/** A world in the cluster that `KUBECONFIG` names. */
export async function openContractWorld(): Promise<ContractWorld> {
  const connection = await connectKubeconfig();
  const namespace = await createNamespace(connection);
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const nodes = objectOf(await connection.request({ path: "/api/v1/nodes" }));
  const nodeName = textOf(objectOf(objectOf(listOf(nodes.items)[0]).metadata).name) ?? "";

  async function find(request: KubeRequest): Promise<unknown> {
    try {
      return await connection.request(request);
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  async function createPod(metadata: unknown, spec: unknown): Promise<Pod> {
    const body = { apiVersion: "v1", kind: "Pod", metadata, spec };
    return parsePod(await connection.request({ method: "POST", path: pods, body }));
  }

  async function readPod({ metadata: { name } }: Pod): Promise<Pod | undefined> {
    const raw = await find({ path: `${pods}/${name}` });
    return raw === undefined ? undefined : parsePod(raw);
  }

  return {
    connection,
    namespace,
    nodeName,
    find,
    async close() {
      const path = `/api/v1/namespaces/${namespace}`;
      const query = { gracePeriodSeconds: "0" };
      await connection.request({ method: "DELETE", path: `${path}/pods`, query });
      await connection.request({ method: "DELETE", path });
      connection.close();
    },
    idlePod: (name, labels = {}) =>
      createPod({ name, labels }, {
        schedulerName: "none",
        containers: [{ name: "app", image: "busybox:stable" }],
      }),
    async runningPod(name, containers) {
      const made = await createPod({ name }, {
        terminationGracePeriodSeconds: 0,
        containers: containers.filter(({ sidecar }) => !sidecar).map(containerSpec),
        initContainers: containers.filter(({ sidecar }) => sidecar).map(containerSpec),
      });
      return await until(`running pod ${name}`, async () => {
        const pod = await readPod(made);
        return pod?.ready ? pod : undefined;
      });
    },
    pod: readPod,
    async allocation({ metadata: { name } }) {
      const raw = await find({
        path: `/apis/allocation.mbcas.io/v1alpha1/namespaces/${namespace}/podallocations/${name}`,
      });
      return raw === undefined ? undefined : parseAllocation(raw);
    },
  };
}

/**
 * A namespace with the ServiceAccount without which the server takes no pods. Its end is not waited
 * for: that takes five seconds, and every test has another one.
 */
async function createNamespace(connection: OpenKubeConnection): Promise<string> {
  const name = `contract-${crypto.randomUUID().slice(0, 8)}`;
  const body = { metadata: { name } };
  await connection.request({ method: "POST", path: "/api/v1/namespaces", body });
  const path = `/api/v1/namespaces/${name}/serviceaccounts/default`;
  await until("default ServiceAccount", () => connection.request({ path }), { everyMs: 10 });
  return name;
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

/** Registers a test with a world of its own, which is closed after it. */
export function worldTest(name: string, fn: (world: ContractWorld) => Promise<void>): void {
  contractTest(name, openContractWorld, fn);
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

/** Whether a watch from this version starts. */
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

/** Tries to create an object in a collection. */
export function tryCreate(
  connection: KubeConnection,
  { path, body }: { readonly path: string; readonly body: unknown },
): Promise<Refusal> {
  return refusalOf(connection.request({ method: "POST", path, query: QUERY, body }));
}

/** Tries a merge patch of an object. */
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
