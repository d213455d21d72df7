/**
 * The controller's copies and its API in memory: no parsing and no network, so that what is measured
 * is the controller's own work.
 *
 * @module
 */
import type { AllocationLoopParts } from "../../../controller/allocation/allocation_loop.ts";
import { type Caches, podIndex } from "../../../controller/caches.ts";
import { MARKET_MANAGER, RESTORE_MANAGER } from "../../../shared/resize/original_limits.ts";
import { agentLeaseRef, type Lease } from "../../../shared/api/lease.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import { createObjectCache, type IndexBy } from "../../../shared/control/object_cache.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { formatCPU, parseCPU } from "../../../shared/quantity.ts";
import {
  sampleAllocation,
  sampleContainer,
  sampleDesired,
  sampleNode,
  samplePod,
} from "../../../tests/contract/support/sample_objects.ts";

/** How the cluster begins. */
export interface MemoryClusterOptions {
  readonly pods: number;
  /** True: each pod's limit of 200 m was raised to 300 m. */
  readonly raised: boolean;
}

/** The cluster. */
export interface MemoryCluster {
  readonly parts: Pick<AllocationLoopParts, "caches" | "store" | "resizer">;
  /** Pods that have their original limits back. */
  restored(): number;
}

const PODS_PER_NODE = 100;
const NAMESPACES = 50;
const OWN_LIMIT = 200;
const RAISED_LIMIT = 300;
const ANSWER_MS = 2;

interface WritableCopy<T extends ApiObject> extends Informer<T> {
  put(object: T): T;
  remove(object: T): void;
}

function memoryCopy<T extends ApiObject>(indexBy?: IndexBy<T>): WritableCopy<T> {
  let version = 0;
  const cache = createObjectCache<T>(indexBy);
  const subscribers = new Set<(key: string) => void>();
  const changed = (key: string): void => subscribers.forEach((onChange) => onChange(key));
  return {
    get: cache.get,
    byIndex: cache.byIndex,
    all: cache.all,
    synced: true,
    whenSynced: () => Promise.resolve(true),
    subscribe(onChange) {
      subscribers.add(onChange);
      return () => subscribers.delete(onChange);
    },
    run: () => Promise.resolve(),
    put(object) {
      const metadata = { ...object.metadata, resourceVersion: String(++version) };
      const stored = { ...object, metadata };
      changed(cache.put(stored));
      return stored;
    },
    remove: (object) => changed(cache.remove(object)),
  };
}

function raisedPod(index: number, raised: boolean): Pod {
  const limitCPU = raised ? RAISED_LIMIT : OWN_LIMIT;
  const pod = samplePod(`pod-${index}`, {
    namespace: `team-${index % NAMESPACES}`,
    nodeName: `node-${Math.floor(index / PODS_PER_NODE)}`,
    containers: [
      sampleContainer({
        containerID: `containerd://${index}`,
        ready: true,
        limits: { cpu: limitCPU },
        applied: { requests: {}, limits: { cpu: limitCPU } },
        ...(raised ? { limitManagers: [MARKET_MANAGER] } : {}),
      }),
    ],
  });
  return {
    ...pod,
    phase: "Running",
    ready: true,
    readySinceMs: 0,
    metadata: { ...pod.metadata, uid: `uid-${index}` },
  };
}

function allocationOf(pod: Pod): PodAllocation {
  const limit = formatCPU(RAISED_LIMIT);
  const allocation = sampleAllocation(pod);
  const cpu = formatCPU(OWN_LIMIT);
  return {
    ...allocation,
    spec: { ...allocation.spec, ...sampleDesired(limit) },
    status: {
      originalLimits: [{ name: "app", cpu }],
      originalRequests: [{ name: "app", cpu: formatCPU(100) }],
    },
  };
}

/** A cluster with `pods` pods, 100 a node, in 50 namespaces. */
export function createMemoryCluster({ pods: count, raised }: MemoryClusterOptions): MemoryCluster {
  const pods = memoryCopy<Pod>(podIndex);
  const allocations = memoryCopy<PodAllocation>(({ metadata }) => metadata.namespace);
  const namespaces = memoryCopy<Namespace>();
  const nodes = memoryCopy<Node>();
  const leases = memoryCopy<Lease>();
  for (let one = 0; one < NAMESPACES; one++) {
    const metadata = { name: `team-${one}`, uid: "", labels: {}, annotations: {} };
    namespaces.put({ metadata: { ...metadata, resourceVersion: "" } });
  }
  for (let one = 0; one < Math.ceil(count / PODS_PER_NODE); one++) {
    nodes.put(sampleNode(`node-${one}`));
    leases.put({
      metadata: { ...agentLeaseRef(`node-${one}`), uid: `lease-${one}`, resourceVersion: "" },
      holder: "agent",
      durationSeconds: 120,
      acquireTimeMs: 0,
      renewTimeMs: systemClock.wall(),
      transitions: 0,
    });
  }
  for (let index = 0; index < count; index++) {
    const pod = pods.put(raisedPod(index, raised));
    if (raised) allocations.put(allocationOf(pod));
  }
  const resizer: AllocationLoopParts["resizer"] = {
    async resize(namespace, podName, patch, { manager = MARKET_MANAGER } = {}) {
      await systemClock.sleep(ANSWER_MS);
      const pod = pods.get(`${namespace}/${podName}`);
      if (pod === undefined) throw new Error(`Cannot resize ${podName}: it is gone`);
      const limit = patch.spec.containers?.[0]?.resources.limits?.cpu ?? "0";
      const containers = pod.containers.map((container) => ({
        ...container,
        limits: { ...container.limits, cpu: parseCPU(limit) },
        applied: {
          requests: { ...container.applied.requests },
          limits: { ...container.applied.limits, cpu: parseCPU(limit) },
        },
        limitManagers: [manager],
      }));
      return pods.put({ ...pod, containers }).metadata.resourceVersion;
    },
  };
  const written = async (allocation: PodAllocation): Promise<PodAllocation> => {
    await systemClock.sleep(ANSWER_MS);
    return allocations.put(allocation);
  };
  const none = <K extends keyof Caches>(): Caches[K] => memoryCopy() as unknown as Caches[K];
  return {
    parts: {
      caches: {
        pods,
        allocations,
        namespaces,
        nodes,
        leases,
        limitRanges: none<"limitRanges">(),
        resourceQuotas: none<"resourceQuotas">(),
        deployments: none<"deployments">(),
        statefulSets: none<"statefulSets">(),
        daemonSets: none<"daemonSets">(),
        horizontalPodAutoscalers: none<"horizontalPodAutoscalers">(),
        verticalPodAutoscalers: none<"verticalPodAutoscalers">(),
      },
      store: {
        create: written,
        writeStatus: written,
        async remove(allocation) {
          await systemClock.sleep(ANSWER_MS);
          allocations.remove(allocation);
        },
      },
      resizer,
    },
    restored: () =>
      [...pods.all()].filter(({ containers: [app] }) =>
        app?.limitManagers?.includes(RESTORE_MANAGER)
      ).length,
  };
}
