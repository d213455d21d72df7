/**
 * API servers that stand for older ones: the harness's own binary with `--emulated-version`, beside
 * the cluster's server, on its etcd under a prefix of their own. There are neither kubelets nor
 * controllers: a test says itself what those would.
 *
 * @module
 */
import recordedRunning from "../../fixtures/kubelet-status/running.json" with { type: "json" };
import { connectKubeconfig } from "../../../adapters/kube/client/connect.ts";
import {
  type KubeConnection,
  type OpenKubeConnection,
  patchRequest,
} from "../../../adapters/kube/client/connection.ts";
import { component } from "../harness/component.ts";
import { endProcess, livingProcess, readIfThere, startDaemon } from "../harness/daemon.ts";
import { type Instance, NETWORK, readSettings } from "../harness/instance.ts";
import { openProber } from "../harness/running_component.ts";
import { clusterInstance, deletePrefix } from "./harness_access.ts";
import { until } from "./until.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { createDesiredWriter } from "../../../adapters/kube/writers/allocation_writers.ts";
import { readNode } from "../../../adapters/kube/kinds/nodes.ts";
import { sampleDesired } from "../../contract/support/sample_objects.ts";
import { createKubectl } from "../kubectl.ts";
import { applyRights } from "../rendered_manifests.ts";
import { allocationBody, untilInForce } from "./policy_stage.ts";
import { connectByToken, requestToken } from "./real_node.ts";

export const SERVER_VERSIONS = ["1.33", "1.34", "1.35", "1.36"] as const;

export type ServerVersion = typeof SERVER_VERSIONS[number];

export interface EmulatedServerOptions {
  readonly version: ServerVersion;
  /** Feature gates that differ from the version's own. @default {{}} */
  readonly featureGates?: Readonly<Record<string, boolean>>;
}

export interface EmulatedServer extends AsyncDisposable {
  readonly connection: OpenKubeConnection;
  readonly kubeconfig: string;
}

/**
 * The newest binary emulates the feature gates of an older version, but not which admission plugins
 * that had: the one that compares a resize with the node came with 1.36.
 */
const NOT_BEFORE_1_36 = "PodResizeValidator";

const LOG_TAIL = 2000;

/** Starts a server and waits until it is ready. Throws an `Error` with the end of its log. */
export async function startEmulatedServer(options: EmulatedServerOptions): Promise<EmulatedServer> {
  const instance = clusterInstance();
  const binary = (await readSettings(instance))?.binaries["kube-apiserver"];
  if (binary === undefined) throw new Error("Cannot emulate a server: the cluster is not up");
  const { port, name } = freePlace(options);
  const log = `${instance.directory}/logs/${name}.log`;
  const record = `${instance.directory}/run/${name}`;
  const kubeconfig = `${instance.directory}/${name}.kubeconfig`;
  const url = `https://127.0.0.1:${port}`;
  await Deno.writeTextFile(
    kubeconfig,
    (await Deno.readTextFile(instance.kubeconfig)).replace(NETWORK.apiServer, url),
    { mode: 0o600 },
  );
  const end = async (): Promise<void> => {
    const process = await livingProcess(record);
    if (process !== undefined) await endProcess(process);
    await deletePrefix(`/${name}/`);
    for (const file of [kubeconfig, log, record]) await Deno.remove(file);
  };
  const command = [binary, ...serverArguments(instance, { ...options, port, prefix: `/${name}` })];
  await startDaemon({ command, log, record });
  try {
    using prober = await openProber(instance);
    const state = await until(`ready server ${options.version}`, async () => {
      if (await livingProcess(record) === undefined) return "ended";
      const reason = await prober.ask({ url: `${url}/readyz` });
      if (reason === undefined) return "ready";
      throw new Error(reason);
    }, { timeoutMs: 60_000, everyMs: 200 });
    if (state === "ended") {
      const tail = (await readIfThere(log) ?? "").slice(-LOG_TAIL);
      throw new Error(`Cannot emulate a server of ${options.version}: it ended\n${tail}`);
    }
    const connection = await connectKubeconfig({ program: "test", path: kubeconfig });
    return {
      connection,
      kubeconfig,
      [Symbol.asyncDispose]: async () => {
        connection.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    throw error;
  }
}

/** A free port, and a name that no other server has. */
function freePlace({ version }: EmulatedServerOptions): {
  readonly port: number;
  readonly name: string;
} {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  return { port, name: `emulated-${version}-${port}` };
}

/** The arguments of the cluster's own server, but for its place and its audit log. */
function serverArguments(
  instance: Instance,
  { version, featureGates = {}, port, prefix }: EmulatedServerOptions & {
    readonly port: number;
    readonly prefix: string;
  },
): string[] {
  const gates = Object.entries(featureGates).map(([gate, isOn]) => `${gate}=${isOn}`);
  // No controller makes ServiceAccounts for pods here.
  const plugins = ["ServiceAccount", ...(version === "1.36" ? [] : [NOT_BEFORE_1_36])];
  return [
    ...component("kube-apiserver", instance).args
      .filter((one) => !/^--(audit-|bind-address|secure-port)/.test(one)),
    `--emulated-version=${version}`,
    ...(gates.length === 0 ? [] : [`--feature-gates=${gates.join(",")}`]),
    `--disable-admission-plugins=${plugins.join(",")}`,
    `--etcd-prefix=${prefix}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    "--endpoint-reconciler-type=none",
  ];
}

export const PUPPET_NODE = "puppet";
export const PUPPET_NAMESPACE = "shop";

export interface RawResources {
  readonly requests?: Readonly<Record<string, string>>;
  readonly limits?: Readonly<Record<string, string>>;
}

export interface PuppetPod {
  readonly containers: Readonly<Record<string, RawResources>>;
  /** Sidecars, by container name. @default {{}} */
  readonly sidecars?: Readonly<Record<string, RawResources>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly spec?: Readonly<Record<string, unknown>>;
  /** More of its status, or less: undefined takes away. */
  readonly status?: Readonly<Record<string, unknown>>;
  /** The node that it is on. @default {PUPPET_NODE} */
  readonly nodeName?: string;
}

/** Speaks for the kubelets. */
export interface PuppetNode {
  addNamespace(): Promise<void>;
  /** Makes a node; with another operating system in its label where one is given. */
  addNode(name: string, os?: string): Promise<void>;
  run(name: string, pod: PuppetPod): Promise<Pod>;
  pod(name: string): Promise<Pod>;
}

const PODS = `/api/v1/namespaces/${PUPPET_NAMESPACE}/pods`;

export function createPuppetNode(
  connection: KubeConnection,
): PuppetNode {
  const post = (path: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path, body });
  const patchStatus = (path: string, status: unknown): Promise<unknown> =>
    connection.request(patchRequest("merge", { path: `${path}/status`, body: { status } }));
  const read = async (name: string): Promise<Pod> =>
    parsePod(await connection.request({ path: `${PODS}/${name}` }));

  return {
    async addNamespace() {
      await post("/api/v1/namespaces", { metadata: { name: PUPPET_NAMESPACE } });
    },
    async addNode(name, os = "linux") {
      const labels = { "kubernetes.io/os": os };
      await post("/api/v1/nodes", { metadata: { name, labels } });
      const room = { cpu: "2", memory: "2Gi", pods: "110" };
      await patchStatus(`/api/v1/nodes/${name}`, { capacity: room, allocatable: room });
    },
    async run(name, pod) {
      const stored = await post(PODS, {
        metadata: { name, annotations: pod.annotations ?? {} },
        spec: specOf(pod),
      });
      const status = { ...statusOf(objectOf(objectOf(stored).spec)), ...pod.status };
      return parsePod(await patchStatus(`${PODS}/${name}`, status));
    },
    pod: read,
  };
}

function specOf({ containers, sidecars = {}, spec = {}, nodeName = PUPPET_NODE }: PuppetPod) {
  const list = (named: PuppetPod["containers"], more: Record<string, unknown> = {}): unknown[] =>
    Object.entries(named).map(([name, resources]) => ({
      name,
      image: "busybox:stable",
      resources,
      ...more,
    }));
  return {
    nodeName,
    containers: list(containers),
    initContainers: list(sidecars, { restartPolicy: "Always" }),
    ...spec,
  };
}

/** The recorded status of a running pod, with the containers of this spec. */
function statusOf(spec: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { containerStatuses, ...rest } = unnumbered(recordedRunning) as typeof recordedRunning;
  const [recorded] = containerStatuses;
  const statuses = (containers: unknown): unknown[] =>
    listOf(containers).map((container) => {
      const { name, resources } = objectOf(container);
      const { requests = {} } = objectOf(resources);
      return { ...recorded, name, resources, allocatedResources: requests };
    });
  const { resources: _resources, allocatedResources: _allocated, qosClass: _class, ...said } = rest;
  return {
    ...said,
    containerStatuses: statuses(spec["containers"]),
    initContainerStatuses: statuses(spec["initContainers"]),
  };
}

/** The same without any generation. */
function unnumbered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unnumbered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).filter(([name]) => name !== "observedGeneration")
      .map(([name, member]) => [name, unnumbered(member)]),
  );
}

/** Installs the definition and the policies, and sees that they hold an agent to its node. */
export async function installPolicies({ connection, kubeconfig }: EmulatedServer): Promise<void> {
  const kubectl = createKubectl({ kubeconfig });
  await applyRights(kubectl);
  await kubectl.must(["wait", "--for=condition=Established", "crd", "--all", "--timeout=20s"]);
  for (const [name, node] of [["own", PUPPET_NODE], ["foreign", "another"]] as const) {
    const body = allocationBody(PUPPET_NAMESPACE, { name, node });
    await kubectl.must(["create", "-f", "-"], body);
  }
  const { metadata: { uid } } = await readNode(connection, PUPPET_NODE);
  const token = await requestToken(connection, {
    namespace: "mbcas-system",
    account: "mbcas-agent",
    node: { name: PUPPET_NODE, uid },
  });
  const agent = await connectByToken(token, kubeconfig);
  try {
    const writer = createDesiredWriter(agent);
    const write = (name: string): Promise<string> =>
      writer.writeDesired({ namespace: PUPPET_NAMESPACE, name }, sampleDesired("1"));
    await untilInForce(/ValidatingAdmissionPolicy .* denied/, () => write("foreign"));
    await write("own");
  } finally {
    agent.close();
  }
}

/** A LimitRange of 500 m, and a quota that leaves 20 m, as its controller would report it. */
export async function boundNamespace(
  connection: KubeConnection,
): Promise<{ readonly path: string }> {
  const path = `/api/v1/namespaces/${PUPPET_NAMESPACE}`;
  const post = (kind: string, body: unknown): Promise<unknown> =>
    connection.request({ method: "POST", path: `${path}/${kind}`, body });
  const limits = [{ type: "Container", max: { cpu: "500m" } }];
  await post("limitranges", { metadata: { name: "cap" }, spec: { limits } });
  const hard = { "limits.cpu": "1" };
  await post("resourcequotas", { metadata: { name: "sum" }, spec: { hard } });
  await connection.request(
    patchRequest("merge", {
      path: `${path}/resourcequotas/sum/status`,
      body: { status: { hard, used: { "limits.cpu": "780m" } } },
    }),
  );
  return { path };
}
