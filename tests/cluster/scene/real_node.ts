/**
 * The cluster that tests run against, namespaces in it, its events, and tokens of its service accounts.
 *
 * @module
 */
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import {
  type KubeConnection,
  type OpenKubeConnection,
  patchRequest,
} from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { createKubectl } from "../kubectl.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import { allocationPath, parseAllocation } from "../../../adapters/kube/kinds/allocations.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { until, type UntilOptions } from "./until.ts";

export interface PodName {
  readonly namespace: string;
  readonly name: string;
}

export interface RealNode extends Disposable {
  readonly connection: OpenKubeConnection;
  /** The object at `path`; undefined when it is not there. */
  find(path: string): Promise<unknown>;
  items(
    path: string,
    query?: Readonly<Record<string, string>>,
  ): Promise<readonly Readonly<Record<string, unknown>>[]>;
  /** Creates an object under the collection `path`; returns what the server stored. */
  create(path: string, body: unknown): Promise<unknown>;
  deploy(deployment: Record<string, unknown>): Promise<unknown>;
  /** Changes an object by a merge patch; returns what the server stored. */
  merge(path: string, body: unknown): Promise<unknown>;
  /** Deletes an object, a pod at once. */
  remove(path: string): Promise<void>;
  /** Creates the pod and waits until it runs with all its containers ready, a minute by default. */
  run(pod: Record<string, unknown>, options?: UntilOptions): Promise<Pod>;
  pod(pod: PodName): Promise<Pod | undefined>;
  /** The allocation of the pod with this UID; undefined when there is none. */
  allocation(namespace: string, uid: string): Promise<PodAllocation | undefined>;
  /** Sends a signal to process 1 of a container, `USR1` starts a burst. */
  signal(pod: PodName, container: string, signal?: string): Promise<void>;
}

export function podPath({ namespace, name }: PodName): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

export async function orGone<T>(read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

const kubectl = createKubectl();

export async function openRealNode(): Promise<RealNode> {
  const connection = await connectKubeconfig({ program: "test" });
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

/** The namespace while it exists; its end is waited for. */
export interface ScratchNamespace extends AsyncDisposable {
  readonly name: string;
  pod(name: string): PodName;
  /** Removes it, and does not wait until it is gone. */
  remove(): Promise<void>;
}

interface NamespaceMarks {
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
): () => Promise<void> {
  return async () => {
    using node = await openRealNode();
    await using namespace = await scratchNamespace(node.connection);
    await test(node, namespace);
  };
}

interface SeenEvent {
  readonly reason: string;
  readonly message: string;
  /** The kind of its object. */
  readonly kind: string;
  /** The reporting component, for instance `mbcas-controller`. */
  readonly by: string;
}

/** Events of the namespace about objects of this name, or about all. */
export async function eventsOf(
  { connection }: Pick<RealNode, "connection">,
  { namespace, name }: Pick<PodName, "namespace"> & Partial<PodName>,
): Promise<readonly SeenEvent[]> {
  const path = `/apis/events.k8s.io/v1/namespaces/${namespace}/events`;
  const { items } = objectOf(await connection.request({ path }));
  return listOf(items).map(objectOf)
    .filter(({ regarding }) => name === undefined || objectOf(regarding).name === name)
    .map(({ reason, note, regarding, reportingController }) => ({
      reason: String(reason),
      message: String(note),
      kind: String(objectOf(regarding).kind),
      by: String(reportingController),
    }));
}

export async function eventTexts(
  node: Pick<RealNode, "connection">,
  { reason, ...name }: Parameters<typeof eventsOf>[1] & { readonly reason: string },
): Promise<readonly string[]> {
  const events = await eventsOf(node, name);
  return events.filter((event) => event.reason === reason).map(({ message }) => message);
}

/** Waits for an event of this reason; returns its message. */
export async function whenReported(
  node: Pick<RealNode, "connection">,
  { reason, ...name }: PodName & { readonly reason: string },
  options?: UntilOptions,
): Promise<string> {
  return await until(
    `event ${reason} of ${name.name}`,
    async () => (await eventTexts(node, { ...name, reason })).at(0),
    options,
  );
}

/** Which account, and the node that its token is bound to, as those of pods are. */
interface TokenRequest {
  readonly namespace: string;
  readonly account: string;
  readonly node?: { readonly name: string; readonly uid: string };
}

export async function requestToken(
  admin: KubeConnection,
  { namespace, account, node }: TokenRequest,
): Promise<string> {
  const bound = node === undefined
    ? {}
    : { boundObjectRef: { apiVersion: "v1", kind: "Node", name: node.name, uid: node.uid } };
  const answer = await admin.request({
    method: "POST",
    path: `/api/v1/namespaces/${namespace}/serviceaccounts/${account}/token`,
    body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec: bound },
  });
  return textOf(objectOf(objectOf(answer).status).token) ?? "";
}

/** A kubeconfig with a token and nothing else; a client certificate beside it would win. */
export async function tokenKubeconfig(
  token: string,
  cluster: string = Deno.env.get("KUBECONFIG") ?? "",
): Promise<AsyncDisposable & { readonly path: string }> {
  // The harness writes its kubeconfigs as JSON.
  const config = JSON.parse(await Deno.readTextFile(cluster));
  const users = [{ ...config.users[0], user: { token } }];
  const path = await Deno.makeTempFile({ suffix: ".kubeconfig" });
  await Deno.writeTextFile(path, JSON.stringify({ ...config, users }));
  return { path, [Symbol.asyncDispose]: () => Deno.remove(path) };
}

/** Connects by a token to the cluster of `KUBECONFIG`, or of another kubeconfig of the harness. */
export async function connectByToken(
  token: string,
  cluster?: string,
): Promise<OpenKubeConnection> {
  await using kubeconfig = await tokenKubeconfig(token, cluster);
  return await connectKubeconfig({ program: "test", path: kubeconfig.path });
}
