/**
 * The cluster that tests run against, and its node's cgroups as a test sees them.
 *
 * @module
 */
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import type { OpenKubeConnection } from "../../../adapters/kube/client/connection.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { until, type UntilOptions } from "./until.ts";

/** Names one pod. */
export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

/** A cluster with a kubelet. */
export interface RealNode extends Disposable {
  readonly connection: OpenKubeConnection;
  /** Creates an object under the collection `path`; returns what the server stored. */
  create(path: string, body: unknown): Promise<unknown>;
  /** Creates the pod and waits until it runs with all its containers ready, a minute by default. */
  run(pod: Record<string, unknown>, options?: UntilOptions): Promise<Pod>;
  /** The pod now; undefined when it is gone. */
  pod(pod: PodName): Promise<Pod | undefined>;
  /** The allocation of the pod with this UID; undefined when there is none. */
  allocation(namespace: string, uid: string): Promise<PodAllocation | undefined>;
  /** Sends a signal to process 1 of a container, `USR1` starts a burst. */
  signal(pod: PodName, container: string, signal?: string): Promise<void>;
}

/** Opens the cluster of `KUBECONFIG`. */
export async function openRealNode(): Promise<RealNode> {
  const connection = await connectKubeconfig();
  const orGone = async <T>(read: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await read();
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  };
  const create = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const pod = ({ namespace, name }: PodName): Promise<Pod | undefined> =>
    orGone(async () =>
      parsePod(await connection.request({ path: `/api/v1/namespaces/${namespace}/pods/${name}` }))
    );
  return {
    connection,
    create,
    pod,
    run: async (object, options = { timeoutMs: 60_000 }) => {
      const { namespace } = object["metadata"] as PodName;
      const { metadata } = parsePod(await create(`/api/v1/namespaces/${namespace}/pods`, object));
      return await until(`running pod ${namespace}/${metadata.name}`, async () => {
        const now = await pod({ namespace, name: metadata.name });
        return now?.phase === "Running" && now.ready ? now : undefined;
      }, options);
    },
    allocation: (namespace, uid) =>
      orGone(async () =>
        parseAllocation(
          await connection.request({
            path:
              `/apis/allocation.mbcas.io/v1alpha1/namespaces/${namespace}/podallocations/${uid}`,
          }),
        )
      ),
    signal: async ({ namespace, name }, container, signal = "USR1") => {
      const { success, stderr } = await new Deno.Command("kubectl", {
        args: ["exec", "-n", namespace, name, "-c", container, "--", "kill", `-${signal}`, "1"],
      }).output();
      if (success) return;
      throw new Error(`Cannot signal ${namespace}/${name}: ${new TextDecoder().decode(stderr)}`);
    },
    [Symbol.dispose]: () => connection.close(),
  };
}
