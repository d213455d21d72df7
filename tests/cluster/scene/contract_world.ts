/**
 * What the contract suites need of a real cluster: objects that are made, changed and removed, each
 * test in a namespace of its own.
 *
 * @module
 */
import { contractTest } from "../../contract/support/contract_harness.ts";
import { parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
import type { KubeRequest, OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, PodContainer, ResourceAmounts } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { until } from "./until.ts";

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
