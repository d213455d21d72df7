/**
 * Several nodes without machines on a real server, and one stand-in for all their kubelets.
 *
 * @module
 */
import { type KubeConnection, patchRequest } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../../adapters/kube/client/json_fields.ts";
import { parseLease } from "../../../adapters/kube/kinds/leases.ts";
import { parseNode } from "../../../adapters/kube/kinds/nodes.ts";
import {
  formatMicroTime,
  parseIdentity,
  parseNamespacedIdentity,
} from "../../../adapters/kube/kinds/object_fields.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { NodeClass } from "../../../shared/placement/node_classes.ts";
import { until } from "./until.ts";
import { listWatchOf } from "../../../adapters/kube/client/list_watch.ts";
import type { Clock } from "../../../shared/clock.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { runReconcileLoop } from "../../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../../shared/control/work_queue.ts";
import { silentLog } from "../../../shared/log.ts";
import type { ApiObject } from "../../../shared/api/object.ts";

/** The nodes. Disposing takes all away; their pods should be gone by then. */
export interface SimulatedNodes extends AsyncDisposable {
  /** Adds a node, and waits until pods may come. */
  add(node: SimulatedNode): Promise<void>;
  /** The class of the node with this name in the cluster; undefined for others. */
  classOf(nodeName: string): NodeClass | undefined;
  /** Gives it a taint with this key, as controllers do before they remove a node. */
  taint(name: string, key: string): Promise<void>;
  /**
   * Its kubelet falls silent, and the cluster says so at once, not after its 50 s: its controllers then
   * taint the node and delete its pods, which no kubelet ends.
   */
  die(name: string): Promise<void>;
}

/** As often as kubelets, ms. */
const RENEW_EVERY_MS = 10_000;
/** As long as a Lease holds. */
const SILENT_AFTER_MS = 40_000;
const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
/** The node controller looks every 5 s, and only then takes the taint of new nodes away. */
const READY = { timeoutMs: 60_000 } as const;

/** None yet; what an interrupted run has left is removed first. Several may be open at a time. */
export async function openSimulatedNodes(connection: KubeConnection): Promise<SimulatedNodes> {
  const all = new Map<string, { readonly node: SimulatedNode; alive: boolean }>();
  const end = new AbortController();
  await removeSilent(connection);
  const patch = (path: string, body: unknown): Promise<unknown> =>
    connection.request(patchRequest("strategic", { path, body }));
  const known = (name: string): string => {
    const full = simulatedName({ name });
    if (!all.has(full)) throw new RangeError(`Cannot find the simulated node ${name}`);
    return full;
  };

  async function renew(): Promise<void> {
    while (!end.signal.aborted) {
      await systemClock.sleep(RENEW_EVERY_MS, end.signal);
      if (end.signal.aborted) return;
      const alive = [...all].filter(([, one]) => one.alive);
      // One sign of life may be lost: Leases hold for four of them.
      await Promise.allSettled(
        alive.map(([name]) => patch(`${LEASES}/${name}`, { spec: renewal(systemClock.wall()) })),
      );
    }
  }

  const lives = (nodeName: string): boolean => all.get(nodeName)?.alive === true;
  const work = Promise.all([
    renew(),
    runStandInKubelet(connection, { lives, clock: systemClock }, end.signal),
  ]);
  // A failure is reported at the end, after all waits for pods.
  const failure = work.then(() => undefined, (error: unknown) => error);

  return {
    classOf: (nodeName) => all.get(nodeName)?.node.class,
    async add(node) {
      const name = simulatedName(node);
      // An interrupted run may have left one that is not silent for long enough.
      await removeNode(connection, name);
      const stored = await connection.request({
        method: "POST",
        path: NODES,
        body: nodeObject(node),
      });
      const { uid } = parseIdentity(stored);
      all.set(name, { node, alive: true });
      const nowMs = systemClock.wall();
      const body = nodeLease({ name, uid }, nowMs);
      await connection.request({ method: "POST", path: LEASES, body });
      await patch(`${NODES}/${name}/status`, { status: nodeStatus(node, nowMs) });
      await until(`node ${name} that takes pods`, async () => {
        const { spec } = objectOf(await connection.request({ path: `${NODES}/${name}` }));
        const others = listOf(objectOf(spec).taints).map(objectOf)
          .filter(({ key }) => key !== SIMULATED);
        return others.length === 0 ? true : undefined;
      }, READY);
    },
    async taint(name, key) {
      const path = `${NODES}/${known(name)}`;
      const taints = [
        { key: SIMULATED, effect: "NoSchedule" },
        { key, effect: "NoSchedule" },
      ];
      await connection.request(patchRequest("merge", { path, body: { spec: { taints } } }));
    },
    async die(name) {
      const full = known(name);
      const one = all.get(full);
      if (one !== undefined) one.alive = false;
      const conditions = [readyCondition("Unknown", systemClock.wall())];
      await patch(`${NODES}/${full}/status`, { status: { conditions } });
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      const failed = await failure;
      for (const name of all.keys()) await removeNode(connection, name);
      if (failed !== undefined) throw failed;
    },
  };
}

/** Removes the nodes with a stand-in that has not renewed their Lease in time. */
async function removeSilent(connection: KubeConnection): Promise<void> {
  const query = { labelSelector: SIMULATED };
  const list = async (path: string): Promise<readonly unknown[]> =>
    listOf(objectOf(await connection.request({ path, ...path === NODES ? { query } : {} })).items);
  const [nodes, leases] = await Promise.all([list(NODES), list(LEASES)]);
  const renewed = new Map(
    leases.map((raw) => [parseIdentity(raw).name, parseLease(raw).renewTimeMs ?? 0]),
  );
  const silentSince = systemClock.wall() - SILENT_AFTER_MS;
  for (const { metadata: { name } } of nodes.map(parseNode)) {
    if ((renewed.get(name) ?? 0) < silentSince) await removeNode(connection, name);
  }
}

/** Removes the node, where it is there; its Lease goes with it. */
async function removeNode(connection: KubeConnection, name: string): Promise<void> {
  try {
    await connection.request({ method: "DELETE", path: `${NODES}/${name}` });
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  }
}

/** Options of the node. */
export interface SimulatedNode {
  /** Unique among those that there are. */
  readonly name: string;
  readonly class: NodeClass;
  /** Pods of one scene run on its own nodes alone. */
  readonly scene: string;
  /** How many pods have room. @default {110} */
  readonly pods?: number;
}

/** Label of all of them, by which those of an interrupted run are found. */
const SIMULATED = "try.mbcas.io/simulated";
/** Label and taint with the scene: no other pods come here, and a scene's pods go nowhere else. */
export const SCENE = "try.mbcas.io/scene";

/** How long kubelets' Leases hold, s. */
const LEASE_SECONDS = 40;

/**
 * The node's name in the cluster: after the names that real nodes have, as tests take the first one for
 * the real one.
 */
function simulatedName({ name }: Pick<SimulatedNode, "name">): string {
  return `z-${name}`;
}

/** Members of a pod's spec that let it run on a scene's nodes, and on these alone. */
export function sceneBounds(scene: string): Record<string, unknown> {
  return {
    nodeSelector: { [SCENE]: scene },
    tolerations: [
      { key: SIMULATED, operator: "Exists" },
      // No test waits for it.
      ...["unreachable", "not-ready"].map((state) => ({
        key: `node.kubernetes.io/${state}`,
        operator: "Exists",
        effect: "NoExecute",
        tolerationSeconds: 0,
      })),
    ],
  };
}

/**
 * The Node. It has no label with an operating system, without which no DaemonSet of the product wants a
 * pod there.
 */
function nodeObject(node: SimulatedNode): object {
  const name = simulatedName(node);
  return {
    metadata: {
      name,
      labels: {
        [SIMULATED]: "true",
        [SCENE]: node.scene,
        "karpenter.sh/capacity-type": node.class,
        "kubernetes.io/hostname": name,
      },
    },
    spec: { taints: [{ key: SIMULATED, effect: "NoSchedule" }] },
  };
}

/** The status that its kubelet reports. */
function nodeStatus({ pods = 110 }: SimulatedNode, nowMs: number): object {
  const room = { cpu: "32", memory: "64Gi", pods: String(pods) };
  return { capacity: room, allocatable: room, conditions: [readyCondition("True", nowMs)] };
}

/** Whether the node is ready; `Unknown` says that it is silent. */
function readyCondition(status: "True" | "Unknown", nowMs: number): object {
  const at = new Date(nowMs).toISOString().replace(/\.\d+Z$/, "Z");
  const reason = status === "True" ? "KubeletReady" : "NodeStatusUnknown";
  return { type: "Ready", status, reason, lastHeartbeatTime: at, lastTransitionTime: at };
}

/** The Lease by which its kubelet says that it lives. It goes with the node. */
function nodeLease(
  { name, uid }: { readonly name: string; readonly uid: string },
  nowMs: number,
): object {
  return {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: {
      name,
      namespace: "kube-node-lease",
      ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
    },
    spec: { holderIdentity: name, leaseDurationSeconds: LEASE_SECONDS, ...renewal(nowMs) },
  };
}

/** The part of a Lease that each sign of life changes. */
export function renewal(nowMs: number): { readonly renewTime: string } {
  return { renewTime: formatMicroTime(nowMs) };
}

/** Ports of the kubelets. */
export interface StandInKubeletOptions {
  /** Does a kubelet live on this node, and is it ours? */
  readonly lives: (nodeName: string) => boolean;
  readonly clock: Clock;
}

/** Pods at a time: as many as kubelets of several nodes would start at once. */
const WORKERS = 16;

/** Runs until `signal` is aborted. */
async function runStandInKubelet(
  connection: KubeConnection,
  { lives, clock }: StandInKubeletOptions,
  signal: AbortSignal,
): Promise<void> {
  const source = listWatchOf({ groupVersion: "v1", resource: "pods", parse: parseStandInPod })(
    connection,
  );
  const random = { next: () => 0.5 };
  const pods = createInformer({ source, clock, random, log: silentLog, name: "Pod" });
  const queue = createWorkQueue(clock);

  async function look(key: string): Promise<Record<string, never>> {
    const pod = pods.get(key);
    if (pod === undefined || !lives(pod.nodeName)) return {};
    const step = standInStep(pod);
    if (step === "nothing") return {};
    try {
      await (step === "end" ? end(connection, pod) : start(connection, pod, clock));
    } catch (error) {
      // It is another one by now, or none: the watch reports.
      if (!(error instanceof ApiError && [404, 409].includes(error.status))) throw error;
    }
    return {};
  }

  const unsubscribe = pods.subscribe((key) => queue.add(key));
  try {
    const backoff = createBackoff({ minMs: 200, maxMs: 2000 });
    await Promise.all([
      pods.run(signal),
      runReconcileLoop(
        { queue, reconcile: look, backoff, clock, log: silentLog, workers: WORKERS },
        signal,
      ),
    ]);
  } finally {
    unsubscribe();
  }
}

async function start(
  connection: KubeConnection,
  pod: StandInPod,
  clock: Pick<Clock, "wall">,
): Promise<void> {
  const { uid } = pod.metadata;
  await connection.request(patchRequest("strategic", {
    path: `${pathOf(pod)}/status`,
    // Conditions are merged by their types: the scheduler has written one.
    body: { metadata: { uid }, status: runningStatus(pod, clock.wall()) },
  }));
}

async function end(connection: KubeConnection, pod: StandInPod): Promise<void> {
  const { uid } = pod.metadata;
  const body = { gracePeriodSeconds: 0, preconditions: { uid } };
  await connection.request({ method: "DELETE", path: pathOf(pod), body });
}

function pathOf({ metadata: { namespace, name } }: StandInPod): string {
  return `/api/v1/namespaces/${namespace}/pods/${name}`;
}

/** The pod. */
export interface StandInPod extends ApiObject {
  readonly metadata: ApiObject["metadata"] & { readonly namespace: string };
  /** Empty until it is bound. */
  readonly nodeName: string;
  readonly terminating: boolean;
  /** True once it was reported as running. */
  readonly running: boolean;
  /** Names and images of its containers. */
  readonly containers: readonly { readonly name: string; readonly image: string }[];
}

/** `start`: it runs from now on; `end`: it has ended, and its object goes. */
export type StandInStep = "start" | "end" | "nothing";

/** The parts of a pod that are needed. Throws a `TypeError` without identity. */
function parseStandInPod(raw: unknown): StandInPod {
  const { metadata, spec, status } = objectOf(raw);
  const { containers, nodeName } = objectOf(spec);
  return {
    metadata: parseNamespacedIdentity(raw),
    nodeName: textOf(nodeName) ?? "",
    terminating: objectOf(metadata).deletionTimestamp !== undefined,
    running: objectOf(status).phase === "Running",
    containers: listOf(containers).map(objectOf).map(({ name, image }) => ({
      name: textOf(name) ?? "",
      image: textOf(image) ?? "",
    })),
  };
}

/** The step of a kubelet when nothing ever goes wrong and nothing takes time. */
function standInStep({ nodeName, terminating, running }: StandInPod): StandInStep {
  if (nodeName === "") return "nothing";
  if (terminating) return "end";
  return running ? "nothing" : "start";
}

/** The status that a kubelet would report for a pod that runs since `atMs`, ms since 1970. */
function runningStatus({ containers }: StandInPod, atMs: number): object {
  const at = new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
  return {
    phase: "Running",
    startTime: at,
    conditions: ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"].map(
      (type) => ({ type, status: "True", lastTransitionTime: at }),
    ),
    containerStatuses: containers.map(({ name, image }) => ({
      name,
      image,
      imageID: "",
      containerID: `pretended://${name}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}
