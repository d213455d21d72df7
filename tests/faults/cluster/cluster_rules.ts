/**
 * Bounds of limits in the simulated cluster, beside the pods' own: a quota, a LimitRange and a
 * HorizontalPodAutoscaler; and a Deployment with replicas that placement spreads over spot and on-demand nodes,
 * its controller with scheduler and kubelet in one.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import { BURST_FACTOR, LOADED_PODS, workOf } from "./cluster_load.ts";
import { seededRandom } from "../../../shared/random.ts";
import type { ContainerRuntime } from "../../../lab/simulation/kubelet.ts";
import { SimulatedNode } from "../../../lab/simulation/node/simulated_node.ts";
import type { PodAllocation, PodAllocationStatus } from "../../../shared/api/pod_allocation.ts";
import { cpuLimits } from "../../contract/support/sample_objects.ts";
import type { CORRUPTIONS } from "../fault.ts";
import { runMutators } from "../../../shared/admission/run_mutators.ts";
import { secondOf } from "../../../shared/placement/placed_pod.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import { podRequest, storedPod } from "../../fixtures/placement/placement_caches.ts";
import { sampleWorkload } from "../../fixtures/sample_workloads.ts";
import type { WebhookService } from "../../fixtures/webhook/webhook_replica.ts";
import { byCost, CAPACITY_TYPE, schedule } from "../../simulation/placement_scheduler.ts";

const NO_VERSION = { uid: "", resourceVersion: "" };
/** The quota of a namespace; limits.cpu in millicores: less than the ceilings of its pods together. */
export const QUOTA = { namespace: "batch", name: "cpu", hard: 3000 } as const;
/** Namespaces with a LimitRange: the largest limit, millicores. */
const RANGES: Readonly<Record<string, number>> = { guest: 1000 };
/** An HPA at 150 % of the requests, 150m, keeps limits of its pods above 1.2 × 225m. */
const SCALED = { namespace: "shop", workload: "web", utilization: 1.5, floor: 270 } as const;

/** Puts them into the cluster, and counts what pods use of the quota. */
export function startRules({ store }: SimulatedAPI): void {
  const { LimitRange, ResourceQuota, HorizontalPodAutoscaler, Pod: pods } = store.tables;
  for (const [namespace, max] of Object.entries(RANGES)) {
    const metadata = { namespace, name: "cpu", ...NO_VERSION };
    LimitRange.seed({ metadata, items: [{ type: "Container", max }] });
  }
  const { namespace, workload: name, utilization } = SCALED;
  HorizontalPodAutoscaler.seed({
    metadata: { namespace, name, ...NO_VERSION, annotations: {} },
    target: { kind: "Deployment", name },
    cpuTargets: [{ utilization }],
    stabilizationMs: 300_000,
  });
  const { hard, ...ref } = QUOTA;
  const metadata = { ...ref, ...NO_VERSION };
  ResourceQuota.seed({ metadata, ...cpuLimits(hard, 0), scopes: [] });
  let position = 0;
  store.onChange(() => {
    let isChanged = false;
    for (let entry = pods.log.at(position); entry; entry = pods.log.at(++position)) {
      isChanged ||= entry.object.metadata.namespace === QUOTA.namespace;
    }
    if (!isChanged) return;
    const present = cpuLimits(hard, quotaUsed(store));
    ResourceQuota.modify(`${QUOTA.namespace}/${QUOTA.name}`, (one) => ({ ...one, ...present }));
  });
}

/** Limits of the pods that the quota counts, millicores. */
export function quotaUsed({ tables }: SimulatedAPI["store"]): number {
  return tables.Pod.all()
    .filter(({ metadata }) => metadata.namespace === QUOTA.namespace)
    .flatMap(({ containers }) => containers)
    .reduce((sum, { limits: { cpu: limitCPU = 0 } }) => sum + limitCPU, 0);
}

/** The market lowers no limit of the pod below this, millicores. */
export function floorOf({ metadata: { namespace, name } }: Pod): number {
  const isScaled = namespace === SCALED.namespace && name.startsWith(`${SCALED.workload}-`);
  return isScaled ? SCALED.floor : 0;
}

/** The ceiling of a container with this limit of its user, but for the quota; millicores. */
export function ceilingOf({ metadata: { namespace } }: Pod, own: number): number {
  return Math.min(own * BURST_FACTOR, NODE_CEILING, RANGES[namespace] ?? Infinity);
}

/** CPUs of a node. */
export const NODE_CORES = 2;

/** The ceiling of every limit, millicores: 90 % of the node. */
export const NODE_CEILING = 0.9 * 1000 * NODE_CORES;

/** The node and its container runtime. */
export interface ClusterNode {
  readonly node: SimulatedNode;
  readonly runtime: ContainerRuntime;
}

/** An empty node. */
export function createClusterNode(
  { seed, now }: { readonly seed: number; readonly now: () => number },
): ClusterNode {
  const node = new SimulatedNode({ cores: NODE_CORES, random: seededRandom(seed) });
  /** Pods on the node, by UID. */
  const pods = new Map<string, { readonly name: string; containerID: string }>();

  function put(uid: string): void {
    const { name, containerID } = pods.get(uid) ?? {};
    const loaded = LOADED_PODS.find((one) => one.name === name);
    if (loaded === undefined || containerID === undefined) return;
    const { request, limit, threads } = loaded;
    const workload = workOf(loaded, now());
    node.addPod({ uid, containers: [{ id: containerID, request, limit, threads, workload }] });
  }

  /** The change, on a node that has run until now; a pod that is gone has nothing to change. */
  function onNode(change: () => void): void {
    node.advance(now());
    try {
      change();
    } catch (error) {
      if (!(error instanceof RangeError)) throw error;
    }
  }

  return {
    node,
    runtime: {
      setContainerQuota: (id, quota) => onNode(() => node.setContainerQuota(id, quota)),
      setPodQuota: (uid, quota) => onNode(() => node.setPodQuota(uid, quota)),
      setContainerRequest: (id, request) => onNode(() => node.setContainerRequest(id, request)),
      startPod: ({ metadata: { uid, name }, containers: [container] }: Pod) =>
        onNode(() => {
          const containerID = container?.containerID?.split("//")[1];
          if (containerID === undefined) return;
          if (pods.has(uid)) node.removePod(uid);
          pods.set(uid, { name, containerID });
          put(uid);
        }),
      stopPod: (uid) =>
        onNode(() => {
          pods.delete(uid);
          node.removePod(uid);
        }),
      containerID: (uid) => pods.get(uid)?.containerID,
      replaceContainer: (oldID, newID) =>
        onNode(() => {
          const [uid, pod] = [...pods].find(([, one]) => one.containerID === oldID) ?? [];
          if (uid === undefined || pod === undefined) return;
          pod.containerID = newID;
          node.removePod(uid);
          put(uid);
        }),
    },
  };
}

type Field = typeof CORRUPTIONS[number];

/** The record with the corrupted field. */
export function corrupted(record: PodAllocation, field: Field): PodAllocation {
  const { apiVersion, kind, metadata, spec, status } = record;
  if (field === "desired") {
    const containers = spec.containers?.map((one) => ({ ...one, cpuLimit: "1900m" }));
    if (containers === undefined) return record;
    return { ...record, spec: { ...spec, containers, desiredCPULimit: "1900m" } };
  }
  if (field === "ownerReferences") {
    const { ownerReferences: _lost, ...rest } = metadata;
    return { ...record, metadata: rest };
  }
  if (field === "status") return { apiVersion, kind, metadata, spec };
  return status === undefined ? record : { ...record, status: corruptedStatus(status, field) };
}

function corruptedStatus(status: PodAllocationStatus, field: Field): PodAllocationStatus {
  const { bounds, originalLimits: _lost, ...rest } = status;
  switch (field) {
    case "bounds": {
      const containers = bounds?.containers.map((one) => ({ ...one, ceiling: one.floor })) ?? [];
      return bounds === undefined ? status : { ...status, bounds: { ...bounds, containers } };
    }
    case "revision":
      return bounds === undefined
        ? status
        : { ...status, bounds: { ...bounds, revision: bounds.revision + 7 } };
    case "phase":
      return { ...status, phase: "Failed" };
    default:
      return { ...rest, ...(bounds === undefined ? {} : { bounds }) };
  }
}

/** Which limits users want, by pod UID; CPU in millicores. */
export interface UserLimits {
  /** A user created the pod, or wrote these limits. */
  wrote(pod: Pod): void;
  /** The limit that the user set last; undefined for an unknown pod. */
  limitOf(uid: string, container: string): number | undefined;
  /**
   * The only record of the original limits is lost by a fault: the product must bring back the
   * template's, or report that it does not know them.
   */
  lose(uid: string): void;
  isLost(uid: string): boolean;
  /** The pod itself has the original limits again. */
  find(uid: string): void;
  /** A fault has taken the original limits from the pod itself, as it is in this generation. */
  forget(pod: Pod): void;
  /** Whether its record alone has the original limits: the market has not patched it since. */
  isForgotten(pod: Pod): boolean;
}

/** No pods yet. */
export function createUserLimits(): UserLimits {
  const limits = new Map<string, number>();
  const lost = new Set<string>();
  const forgotten = new Set<string>();
  const generationOf = ({ metadata: { uid, generation } }: Pod): string => `${uid} ${generation}`;
  return {
    wrote({ metadata: { uid }, containers }) {
      lost.delete(uid);
      for (const { name, limits: { cpu: limitCPU } } of containers) {
        if (limitCPU !== undefined) limits.set(`${uid}/${name}`, limitCPU);
      }
    },
    limitOf: (uid, container) => limits.get(`${uid}/${container}`),
    lose: (uid) => void lost.add(uid),
    isLost: (uid) => lost.has(uid),
    find: (uid) => void lost.delete(uid),
    forget: (pod) => void forgotten.add(generationOf(pod)),
    isForgotten: (pod) => forgotten.has(generationOf(pod)),
  };
}

/** The Deployment. */
export const PLACED = {
  namespace: "front",
  name: "web",
  replicas: 4,
  onDemand: 2,
  floor: 1,
} as const;

const SET = "web-5f";
const OWNER = { apiVersion: "apps/v1", kind: "ReplicaSet", name: SET, uid: "front-set" };
/** Between two turns of the Deployment's controller, ms. */
const TURN_MS = 500;
/** For all mutators of one pod, ms. */
const ADMISSION_MS = 200;

/** Nodes of both classes, and the Deployment; then its controller runs. */
export function startPlaced(
  api: SimulatedAPI,
  clock: VirtualClock,
  service: Pick<WebhookService, "mutators">,
): void {
  const { Node, ReplicaSet, Deployment, PodDisruptionBudget } = api.store.tables;
  for (const one of ["spot", "on-demand"]) {
    for (const index of [0, 1]) {
      Node.seed({
        metadata: { name: `${one}-${index}`, ...NO_VERSION },
        labels: { [CAPACITY_TYPE]: one },
        allocatableCPU: 4000,
        ready: true,
        pressures: [],
      });
    }
  }
  const { metadata: { uid } } = Deployment.seed(deployment(api));
  ReplicaSet.seed({
    metadata: { namespace: PLACED.namespace, name: SET, uid: OWNER.uid, resourceVersion: "" },
    deployment: { name: PLACED.name, uid },
  });
  PodDisruptionBudget.seed({
    metadata: { namespace: PLACED.namespace, name: PLACED.name, ...NO_VERSION },
    selector: { matchLabels: {}, matchExpressions: [] },
    disruptionsAllowed: 0,
    current: true,
    freesUnready: false,
  });
  let made = 0;
  const turn = (): void => {
    void reconcile(api, { clock, service, nameOf: () => `${SET}-${made++}` });
    clock.at(clock.monotonic() + TURN_MS, turn);
  };
  turn();
}

/** Replicas that are Ready. */
export function readyReplicas({ store }: SimulatedAPI): number {
  return livePods(store).filter(({ ready }) => ready).length;
}

/** Replicas that are Ready on on-demand nodes. */
export function readyOnDemand({ store }: SimulatedAPI): number {
  return livePods(store).filter(({ ready, nodeName }) => ready && nodeName.startsWith("on-demand"))
    .length;
}

function livePods({ tables }: SimulatedAPI["store"]): readonly Pod[] {
  return tables.Pod.all().filter(({ metadata: { namespace, terminating } }) =>
    namespace === PLACED.namespace && !terminating
  );
}

function deployment({ store }: SimulatedAPI) {
  const live = livePods(store);
  const sample = sampleWorkload({
    labels: { "spotalis.io/enabled": "true" },
    annotations: {
      "spotalis.io/spot-percentage": "50%",
      "spotalis.io/min-on-demand": `${PLACED.floor}`,
    },
  });
  return {
    ...sample,
    metadata: { ...sample.metadata, namespace: PLACED.namespace, uid: "front-web" },
    replicas: {
      replicas: PLACED.replicas,
      observed: true,
      present: live.length,
      ready: live.filter(({ ready }) => ready).length,
      updated: live.length,
    },
  };
}

interface Turn {
  readonly clock: VirtualClock;
  readonly service: Pick<WebhookService, "mutators">;
  readonly nameOf: () => string;
}

async function reconcile(api: SimulatedAPI, { clock, service, nameOf }: Turn): Promise<void> {
  const { Pod: pods, Deployment, PodDisruptionBudget } = api.store.tables;
  for (const { metadata: { namespace, name, terminating } } of pods.all()) {
    if (namespace === PLACED.namespace && terminating) pods.remove(`${namespace}/${name}`);
  }
  const live = livePods(api.store);
  const missing = PLACED.replicas - live.length;
  for (const { metadata } of byCost(live).slice(0, Math.max(0, -missing))) {
    pods.remove(`${PLACED.namespace}/${metadata.name}`);
  }
  const podsOn = (node: string): number =>
    livePods(api.store).filter(({ nodeName }) => nodeName === node).length;
  for (const pod of livePods(api.store)) schedule(pod, { api, clock, podsOn });
  const key = `${PLACED.namespace}/${PLACED.name}`;
  // One replica may be away.
  const disruptionsAllowed = Math.max(0, readyReplicas(api) - PLACED.replicas + 1);
  PodDisruptionBudget.modify(key, (one) => ({ ...one, disruptionsAllowed }));
  if (Deployment.get(key) !== undefined) Deployment.modify(key, () => deployment(api));
  // All at once: as many as are missing now, whatever the webhook takes.
  await Promise.all(
    Array.from({ length: Math.max(0, missing) }, () => create(api, { clock, service, nameOf })),
  );
}

async function create(api: SimulatedAPI, { clock, service, nameOf }: Turn): Promise<void> {
  const name = nameOf();
  const request = { ...podRequest(name, { owner: OWNER }), namespace: PLACED.namespace };
  // A replica that ends meanwhile never answers: the API server then goes on without it.
  const { patch } = await runMutators(request, service.mutators(), {
    clock,
    withinMs: ADMISSION_MS,
  });
  if (livePods(api.store).length >= PLACED.replicas) return;
  const pod = storedPod(request, { name, owner: OWNER, patch });
  api.store.tables.Pod.seed({
    ...pod,
    metadata: { ...pod.metadata, namespace: PLACED.namespace, ...NO_VERSION },
    createdAtMs: secondOf(clock.wall()),
  });
}
