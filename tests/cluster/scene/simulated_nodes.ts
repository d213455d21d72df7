/**
 * Several nodes without machines on a real server, and one stand-in for all their kubelets.
 *
 * @module
 */
import { type KubeConnection, patchRequest } from "../../../adapters/kube/client/connection.ts";
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import { formatMicroTime, parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { podListWatch } from "../../../adapters/kube/kinds/pods.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { ApiError } from "../../../shared/api/api_error.ts";
import type { NodeClass } from "../../../shared/placement/node_classes.ts";
import { podPath } from "./real_node.ts";
import { until } from "./until.ts";
import { createBackoff } from "../../../shared/control/backoff.ts";
import { createInformer } from "../../../shared/control/informer.ts";
import { runReconcileLoop } from "../../../shared/control/reconcile_loop.ts";
import { createWorkQueue } from "../../../shared/control/work_queue.ts";
import { silentLog } from "../../../shared/log.ts";
import type { Pod } from "../../../shared/api/pod.ts";

/** The nodes. Disposing takes all away; their pods should be gone by then. */
export interface SimulatedNodes extends AsyncDisposable {
  /** Adds a node, and waits until pods may come. */
  add(node: SimulatedNode): Promise<void>;
  /** The class of the node with this name in the cluster; undefined for others. */
  classOf(nodeName: string): NodeClass | undefined;
}

/** As often as kubelets, ms. */
const RENEW_EVERY_MS = 10_000;
const NODES = "/api/v1/nodes";
const LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases";
/** The node controller looks every 5 s, and only then takes the taint of new nodes away. */
const READY = { timeoutMs: 60_000 } as const;

/** None yet; what an interrupted run has left is removed first. */
export async function openSimulatedNodes(connection: KubeConnection): Promise<SimulatedNodes> {
  const all = new Map<string, NodeObject>();
  const end = new AbortController();
  const removeAll = (): Promise<unknown> =>
    connection.request({ method: "DELETE", path: NODES, query: { labelSelector: SIMULATED } });
  await removeAll();
  const patch = (path: string, body: unknown): Promise<unknown> =>
    connection.request(patchRequest("strategic", { path, body }));

  async function renew(): Promise<void> {
    while (!end.signal.aborted) {
      await systemClock.sleep(RENEW_EVERY_MS, end.signal);
      if (end.signal.aborted) return;
      // One sign of life may be lost: Leases hold for four of them.
      await Promise.allSettled(Array.from(all.values(), signOfLife));
    }
  }

  /**
   * Creates or renews the node's Lease. One of an earlier node of this name may still be there: the
   * garbage collector deletes it some time after the node.
   */
  function signOfLife(node: NodeObject): Promise<unknown> {
    const path = `${LEASES}/${node.name}`;
    const query = { fieldManager: "simulated-nodes", force: "true" };
    const body = nodeLease(node, systemClock.wall());
    return connection.request(patchRequest("apply", { path, query, body }));
  }

  const lives = (nodeName: string): boolean => all.has(nodeName);
  const work = Promise.all([renew(), runStandInKubelet(connection, lives, end.signal)]);
  // A failure is reported at the end, after all waits for pods.
  const failure = work.then(() => undefined, (error: unknown) => error);

  return {
    classOf: (nodeName) => all.get(nodeName)?.node.class,
    async add(node) {
      const name = simulatedName(node);
      const stored = await connection.request({
        method: "POST",
        path: NODES,
        body: nodeObject(node),
      });
      const { uid } = parseIdentity(stored);
      const created = { name, uid, node };
      all.set(name, created);
      await signOfLife(created);
      await patch(`${NODES}/${name}/status`, { status: nodeStatus(systemClock.wall()) });
      await until(`node ${name} that takes pods`, async () => {
        const { spec } = objectOf(await connection.request({ path: `${NODES}/${name}` }));
        const others = listOf(objectOf(spec).taints).map(objectOf)
          .filter(({ key }) => key !== SIMULATED);
        return others.length === 0 ? true : undefined;
      }, READY);
    },
    async [Symbol.asyncDispose]() {
      end.abort();
      const failed = await failure;
      await removeAll();
      if (failed !== undefined) throw failed;
    },
  };
}

export interface SimulatedNode {
  /** Unique among those that there are. */
  readonly name: string;
  readonly class: NodeClass;
  /** Pods of one scene run on its own nodes alone. */
  readonly scene: string;
}

/** A simulated node as it was created. */
interface NodeObject {
  /** In the cluster. */
  readonly name: string;
  readonly uid: string;
  readonly node: SimulatedNode;
}

/** Label of all of them, by which those of an interrupted run are found. */
const SIMULATED = "try.mbcas.io/simulated";
/** Label and taint with the scene: no other pods come here, and a scene's pods go nowhere else. */
const SCENE = "try.mbcas.io/scene";

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
function nodeStatus(nowMs: number): object {
  const room = { cpu: "32", memory: "64Gi", pods: "110" };
  const at = wholeSecond(nowMs);
  const ready = { type: "Ready", status: "True", reason: "KubeletReady" };
  const conditions = [{ ...ready, lastHeartbeatTime: at, lastTransitionTime: at }];
  return { capacity: room, allocatable: room, conditions };
}

/** The Lease by which its kubelet says that it lives. It goes with the node. */
function nodeLease(
  { name, uid }: NodeObject,
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
    spec: {
      holderIdentity: name,
      leaseDurationSeconds: LEASE_SECONDS,
      renewTime: formatMicroTime(nowMs),
    },
  };
}

/** Pods at a time: as many as kubelets of several nodes would start at once. */
const WORKERS = 16;

/** Runs until `signal` is aborted; `lives`: is there such a node, and is it ours? */
async function runStandInKubelet(
  connection: KubeConnection,
  lives: (nodeName: string) => boolean,
  signal: AbortSignal,
): Promise<void> {
  const source = podListWatch(connection);
  const random = { next: () => 0.5 };
  const pods = createInformer({ source, clock: systemClock, random, log: silentLog, name: "Pod" });
  const queue = createWorkQueue(systemClock);

  async function look(key: string): Promise<Record<string, never>> {
    const pod = pods.get(key);
    if (pod === undefined || !lives(pod.nodeName)) return {};
    try {
      if (pod.metadata.terminating) await end(connection, pod);
      else if (pod.phase !== "Running") await start(connection, pod);
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
        { queue, reconcile: look, backoff, clock: systemClock, log: silentLog, workers: WORKERS },
        signal,
      ),
    ]);
  } finally {
    unsubscribe();
  }
}

async function start(connection: KubeConnection, pod: Pod): Promise<void> {
  const { uid } = pod.metadata;
  await connection.request(patchRequest("strategic", {
    path: `${podPath(pod.metadata)}/status`,
    // Conditions are merged by their types: the scheduler has written one.
    body: { metadata: { uid }, status: runningStatus(pod, systemClock.wall()) },
  }));
}

async function end(connection: KubeConnection, pod: Pod): Promise<void> {
  const { uid } = pod.metadata;
  const body = { gracePeriodSeconds: 0, preconditions: { uid } };
  await connection.request({ method: "DELETE", path: podPath(pod.metadata), body });
}

/** The status that a kubelet would report for a pod that runs since `atMs`, ms since 1970. */
function runningStatus({ containers }: Pod, atMs: number): object {
  const at = wholeSecond(atMs);
  return {
    phase: "Running",
    startTime: at,
    conditions: ["PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready"].map(
      (type) => ({ type, status: "True", lastTransitionTime: at }),
    ),
    containerStatuses: containers.map(({ name }) => ({
      name,
      image: "busybox:stable",
      imageID: "",
      containerID: `pretended://${name}`,
      ready: true,
      started: true,
      restartCount: 0,
      state: { running: { startedAt: at } },
    })),
  };
}

/** A time as most of the API has it, from ms since 1970. */
function wholeSecond(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, "Z");
}
