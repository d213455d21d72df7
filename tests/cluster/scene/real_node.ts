/**
 * The cluster that tests run against, and namespaces in it for a test or for those of a file.
 *
 * @module
 */
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import {
  type KubeConnection,
  type OpenKubeConnection,
  patchRequest,
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { createKubectl } from "../kubectl.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { allocationPath, parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
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
  /** The object at `path`; undefined when it is not there. */
  find(path: string): Promise<unknown>;
  /** The objects of a collection, raw. */
  items(
    path: string,
    query?: Readonly<Record<string, string>>,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Creates an object under the collection `path`; returns what the server stored. */
  create(path: string, body: unknown): Promise<unknown>;
  /** Creates a Deployment in the namespace that it names. */
  deploy(deployment: Record<string, unknown>): Promise<unknown>;
  /** Changes an object by a merge patch; returns what the server stored. */
  merge(path: string, body: unknown): Promise<unknown>;
  /** Deletes an object, a pod at once. */
  remove(path: string): Promise<void>;
  /** Creates the pod and waits until it runs with all its containers ready, a minute by default. */
  run(pod: Record<string, unknown>, options?: UntilOptions): Promise<Pod>;
  /** The pod now; undefined when it is gone. */
  pod(pod: PodName): Promise<Pod | undefined>;
  /** The allocation of the pod with this UID; undefined when there is none. */
  allocation(namespace: string, uid: string): Promise<PodAllocation | undefined>;
  /** Sends a signal to process 1 of a container, `USR1` starts a burst. */
  signal(pod: PodName, container: string, signal?: string): Promise<void>;
}

/** The path of a pod. */
export function podPath({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** The result of `read`; undefined where there is no such object. */
export async function orGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

const kubectl = createKubectl();

/** Opens the cluster of `KUBECONFIG`. */
export async function openRealNode(): Promise<RealNode> {
  const connection = await connectKubeconfig();
  const find = (path: string): Promise<unknown> => orGone(connection.request({ path }));
  const create = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const pod = async (name: PodName): Promise<Pod | undefined> => {
    const raw = await find(podPath(name));
    return raw === undefined ? undefined : parsePod(raw);
  };
  return {
    connection,
    find,
    items: async (path, query = {}) =>
      listOf(objectOf(await connection.request({ path, query })).items).map(objectOf),
    create,
    deploy: (deployment) => {
      const { namespace } = deployment["metadata"] as PodName;
      return create(`/apis/apps/v1/namespaces/${namespace}/deployments`, deployment);
    },
    merge: (path, body) => connection.request(patchRequest("merge", { path, body })),
    remove: async (path) =>
      void await connection.request({ method: "DELETE", path, query: { gracePeriodSeconds: "0" } }),
    pod,
    run: async (object, options = { timeoutMs: 60_000 }) => {
      const { namespace } = object["metadata"] as PodName;
      const { metadata } = parsePod(await create(`/api/v1/namespaces/${namespace}/pods`, object));
      return await until(`running pod ${namespace}/${metadata.name}`, async () => {
        const now = await pod({ namespace, name: metadata.name });
        return now?.phase === "Running" && now.ready ? now : undefined;
      }, options);
    },
    allocation: async (namespace, name) => {
      const raw = await find(allocationPath({ namespace, name }));
      return raw === undefined ? undefined : parseAllocation(raw);
    },
    signal: async ({ namespace, name }, container, signal = "USR1") =>
      void await kubectl.must(
        ["exec", "-n", namespace, name, "-c", container, "--", "kill", `-${signal}`, "1"],
      ),
    [Symbol.dispose]: () => connection.close(),
  };
}

/** Name of the cluster's first node, which is the one with a machine. */
export async function firstNode({ items }: Pick<RealNode, "items">): Promise<string> {
  return parseIdentity((await items("/api/v1/nodes"))[0]).name;
}

/** Creates an object with a name under the collection `path`; it goes in the end. */
export async function withObject(
  { create, remove }: Pick<RealNode, "create" | "remove">,
  path: string,
  object: {
    readonly metadata: { readonly name: string };
    readonly [field: string]: unknown;
  },
): Promise<AsyncDisposable> {
  await create(path, object);
  return { [Symbol.asyncDispose]: () => remove(`${path}/${object.metadata.name}`) };
}

/** The namespace while it exists; its end is waited for. */
export interface ScratchNamespace extends AsyncDisposable {
  readonly name: string;
  /** The name of a pod in it. */
  pod(name: string): PodName;
  /** Removes it, and does not wait until it is gone. */
  remove(): Promise<void>;
}

/** The namespace's labels and annotations. */
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
  const path = `/api/v1/namespaces/${name}`;
  const body = { metadata: { name, labels, annotations } };
  await connection.request({ method: "POST", path: "/api/v1/namespaces", body });
  const account = () => connection.request({ path: `${path}/serviceaccounts/default` });
  await until("default ServiceAccount", account, { everyMs: 20 });
  const remove = async (): Promise<void> => {
    const query = { gracePeriodSeconds: "0" };
    try {
      await connection.request({ method: "DELETE", path: `${path}/pods`, query });
    } catch (error) {
      // The answer for a hundred pods may be late; the server goes on.
      if (!(error instanceof ApiError && error.reason === "Timeout")) throw error;
    }
    await connection.request({ path, method: "DELETE" });
  };
  return {
    name,
    pod: (pod) => ({ namespace: name, name: pod }),
    remove,
    [Symbol.asyncDispose]: async () => {
      await remove();
      await until(
        `end of namespace ${name}`,
        async () => await orGone(connection.request({ path })) === undefined || undefined,
        { timeoutMs: 120_000 },
      );
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
export type SharedNamespace = Pick<ScratchNamespace, "name" | "pod">;

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
