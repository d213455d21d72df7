/**
 * Bounds of limits in the simulated cluster, beside the pods' own: a quota, a LimitRange and a
 * HorizontalPodAutoscaler.
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

/** The quota of a namespace; limits.cpu in millicores: less than the ceilings of its pods together. */
export const QUOTA = { namespace: "batch", name: "cpu", hard: 3000 } as const;
/** Namespaces with a LimitRange: the largest limit, millicores. */
const RANGES: Readonly<Record<string, number>> = { guest: 1000 };
/** An HPA at 150 % of the requests, 150m, keeps limits of its pods above 1.2 × 225m. */
const SCALED = { namespace: "shop", workload: "web", utilization: 1.5, floor: 270 } as const;

const NO_VERSION = { uid: "", resourceVersion: "" };

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
