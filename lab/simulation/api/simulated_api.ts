/**
 * The simulated API server: one store behind the ports of agent, controller and kubelet.
 *
 * @module
 */
import type { AllocationStore, DesiredWriter, NodeLink } from "../../../shared/api/ports.ts";
import type { PodResizer } from "../../../shared/resize/patch.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import type { Random } from "../../../shared/random.ts";
import {
  createAllocationStore,
  createDesiredWriter,
  createKubeletLink,
  createNodeLink,
  createPodResizer,
  type KubeletLink,
} from "./api_writers.ts";
import { type ApiAccess, createRequestGate, type InjectedFailure } from "./request_gate.ts";
import { createEventList, type EventList } from "./event_sink.ts";
import { createObjectStore, type ObjectStore, startGarbageCollector } from "./object_store.ts";
import { createListWatch, type Selector } from "./list_watch.ts";
import type { KindName, StoredKinds } from "./kinds.ts";
import type { CacheSources } from "../../../controller/caches.ts";
import type { RightsizingEvent } from "../../../controller/rightsizing/ports.ts";

/** How the server behaves. */
export interface SimulatedAPIOptions {
  readonly clock: Clock;
  /** Draws UIDs and latencies. */
  readonly random: Random;
  /** Mean of a request, there and back, ms; a watch event takes half. ± 50 %. @default {10} */
  readonly latencyMs?: number;
  /** Time from a pod's end to that of its allocation, ms. @default {1000} */
  readonly garbageDelayMs?: number;
}

/** The ports of one client of the server. */
export interface SimulatedClient {
  /** For further ports; each client may have another clock and gate. */
  readonly access: ApiAccess;
  listWatch<K extends KindName>(kind: K, selector?: Selector): ListWatch<StoredKinds[K]>;
  readonly allocationStore: AllocationStore;
  /** Resizes as field manager `manager`, by default `mbcas`; a user's hand has another name. */
  podResizer(manager?: string): PodResizer;
  desiredWriter(nodeName: string): DesiredWriter;
  nodeLink(nodeName: string): NodeLink;
  kubeletLink(nodeName: string): KubeletLink;
}

/** The server. All objects that it returns are frozen. Its own ports are those of one client. */
export interface SimulatedAPI extends SimulatedClient {
  /** The objects themselves, without latency or failures: the scene's own hand. */
  readonly store: ObjectStore;
  readonly events: EventList;
  readonly rightsizingEvents: EventList<RightsizingEvent>;
  /** Makes the next requests of a verb and kind fail. */
  failNext(failure: InjectedFailure): void;
  /** Requests fail with status 0 and watches break until `start`. The store keeps its objects. */
  stop(): void;
  start(): void;
  /** Ends all watches in an orderly way, as a server does now and then. */
  closeWatches(): void;
  /** Forgets the history: watches that would need it get 410. Default: all of it. */
  compact(version?: number): void;
  /** Requests that reached the server so far, by `verb kind`. */
  readonly requests: ReadonlyMap<string, number>;
}

/** A running server without objects. */
export function createSimulatedAPI(options: SimulatedAPIOptions): SimulatedAPI {
  const { clock, random, latencyMs = 10, garbageDelayMs = 1000 } = options;
  const store = createObjectStore(options);
  const gate = createRequestGate({ clock, random, latencyMs });
  const listeners = new Set<() => void>();
  let closings = 0;
  const reachable = (): boolean => !gate.stopped;
  const notify = (): void => listeners.forEach((listener) => listener());
  const access: ApiAccess = {
    store,
    gate,
    clock,
    streams: {
      onEvent(wake) {
        listeners.add(wake);
        return () => void listeners.delete(wake);
      },
      closings: () => closings,
    },
  };
  store.onChange(notify);
  startGarbageCollector({ store, clock, delayMs: garbageDelayMs });
  return {
    ...createSimulatedClient(access),
    store,
    events: createEventList(clock, reachable),
    rightsizingEvents: createEventList(clock, reachable),
    failNext: gate.failNext,
    stop() {
      gate.stop();
      notify();
    },
    start: gate.start,
    closeWatches() {
      closings++;
      notify();
    },
    compact: (version = store.version()) => store.compact(version),
    requests: gate.counts,
  };
}

/** The ports of a client with this access. */
export function createSimulatedClient(access: ApiAccess): SimulatedClient {
  return {
    access,
    listWatch: (kind, selector = {}) => createListWatch(access, kind, selector),
    allocationStore: createAllocationStore(access),
    podResizer: (manager = "mbcas") => createPodResizer(access, manager),
    desiredWriter: (nodeName) => createDesiredWriter(access, nodeName),
    nodeLink: (nodeName) => createNodeLink(access, nodeName),
    kubeletLink: (nodeName) => createKubeletLink(access, nodeName),
  };
}

/** Lists and watches of every kind that the controller keeps a copy of. */
export function cacheSources(api: Pick<SimulatedAPI, "listWatch">): CacheSources {
  return {
    pods: api.listWatch("Pod"),
    namespaces: api.listWatch("Namespace"),
    nodes: api.listWatch("Node"),
    allocations: api.listWatch("PodAllocation"),
    leases: api.listWatch("Lease"),
    limitRanges: api.listWatch("LimitRange"),
    resourceQuotas: api.listWatch("ResourceQuota"),
    deployments: api.listWatch("Deployment"),
    statefulSets: api.listWatch("StatefulSet"),
    daemonSets: api.listWatch("DaemonSet"),
    horizontalPodAutoscalers: api.listWatch("HorizontalPodAutoscaler"),
    verticalPodAutoscalers: api.listWatch("VerticalPodAutoscaler"),
  };
}
