/**
 * The cluster that tests run against, and namespaces in it for a test or for those of a file.
 *
 * @module
 */
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import type {
  KubeConnection,
  OpenKubeConnection,
} from "../../../adapters/kube/client/connection.ts";
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

/** The namespace while it exists. */
export interface ScratchNamespace extends AsyncDisposable {
  readonly name: string;
}

/** What the namespace says of itself. */
export interface NamespaceMarks {
  readonly labels?: Readonly<Record<string, string>>;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Makes a namespace and waits for its `default` ServiceAccount, without which no pod starts. */
export async function scratchNamespace(
  connection: KubeConnection,
  { labels = {}, annotations = {} }: NamespaceMarks = {},
): Promise<ScratchNamespace> {
  const name = `try-${crypto.randomUUID().slice(0, 8)}`;
  await connection.request({
    method: "POST",
    path: "/api/v1/namespaces",
    body: { metadata: { name, labels, annotations } },
  });
  await until(
    "default ServiceAccount",
    () => connection.request({ path: `/api/v1/namespaces/${name}/serviceaccounts/default` }),
  );
  return {
    name,
    [Symbol.asyncDispose]: async () => {
      const path = `/api/v1/namespaces/${name}`;
      const pods = { path: `${path}/pods`, query: { gracePeriodSeconds: "0" } };
      try {
        await connection.request({ ...pods, method: "DELETE" });
      } catch (error) {
        // Of a hundred pods the answer may be late; the server goes on.
        if (!(error instanceof ApiError && error.reason === "Timeout")) throw error;
      }
      await connection.request({ path, method: "DELETE" });
      await until(`end of namespace ${name}`, async () => {
        try {
          await connection.request({ path });
          return undefined;
        } catch (error) {
          return error instanceof ApiError && error.status === 404 ? true : undefined;
        }
      }, { timeoutMs: 120_000 });
    },
  };
}

/** A test on the cluster, in a namespace of its own. */
export function onNode(
  test: (node: RealNode, namespace: ScratchNamespace) => Promise<void>,
  marks?: NamespaceMarks,
): () => Promise<void> {
  return async () => {
    using node = await openRealNode();
    await using namespace = await scratchNamespace(node.connection, marks);
    await test(node, namespace);
  };
}

/** The namespace; its members may be used in tests only. */
export interface SharedNamespace {
  readonly name: string;
  /** The name of a pod in it. */
  pod(name: string): PodName;
}

/** Is there from before the first test of the file until after the last; `fill` puts pods into it. */
export function sharedNamespace(
  fill: (node: RealNode, namespace: SharedNamespace) => Promise<void>,
  marks: NamespaceMarks = {},
): SharedNamespace {
  const stage: { namespace?: ScratchNamespace; failed?: true } = {};
  const shared: SharedNamespace = {
    get name() {
      if (stage.namespace === undefined) {
        throw new Error("Cannot name it: there is no namespace yet");
      }
      return stage.namespace.name;
    },
    pod: (name) => ({ namespace: shared.name, name }),
  };
  Deno.test.beforeAll(async () => {
    using node = await openRealNode();
    stage.namespace = await scratchNamespace(node.connection, marks);
    try {
      await fill(node, shared);
    } catch (error) {
      // Without a first test there is no "after the last".
      stage.failed = true;
      await stage.namespace[Symbol.asyncDispose]();
      throw error;
    }
  });
  Deno.test.afterAll(async () => {
    // A second clean-up would hide why the first test has not run.
    if (!stage.failed) await stage.namespace?.[Symbol.asyncDispose]();
  });
  return shared;
}
