/**
 * The controller's informers.
 *
 * @module
 */
import type { HorizontalPodAutoscaler, VerticalPodAutoscaler } from "../shared/api/autoscalers.ts";
import type { Lease } from "../shared/api/lease.ts";
import type { LimitRange, Namespace, ResourceQuota } from "../shared/api/namespace.ts";
import type { Node } from "../shared/api/node.ts";
import type { Pod } from "../shared/api/pod.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { Workload, WorkloadKind, WorkloadRef } from "../shared/api/workload.ts";
import type { Clock } from "../shared/clock.ts";
import {
  createInformer,
  type Informer,
  type InformerOptions,
  type ListWatch,
} from "../shared/control/informer.ts";
import { within } from "../shared/control/time_limit.ts";
import type { ApiObject } from "../shared/api/object.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";

/**
 * The informers. Those that are read by namespace are indexed by it. Pods are also indexed by node and
 * controller, see `podsOnNode()` and `podsOwnedBy()`; the index by node takes 5 MB at 150,000 pods on
 * 5,000 nodes.
 */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<Namespace>;
  readonly nodes: Informer<Node>;
  readonly allocations: Informer<PodAllocation>;
  /** Leases of the installation's namespace, the agents' among them. */
  readonly leases: Informer<Lease>;
  readonly limitRanges: Informer<LimitRange>;
  readonly resourceQuotas: Informer<ResourceQuota>;
  readonly deployments: Informer<Workload>;
  readonly statefulSets: Informer<Workload>;
  readonly daemonSets: Informer<Workload>;
  readonly horizontalPodAutoscalers: Informer<HorizontalPodAutoscaler>;
  /** Empty where the kind is not installed. */
  readonly verticalPodAutoscalers: Informer<VerticalPodAutoscaler>;
}

/** The caches that a pod's reconcile reads. */
export type ReadCaches = {
  readonly [K in Exclude<keyof Caches, "leases">]: Pick<Caches[K], "get" | "byIndex" | "all">;
};

/** A Map, since the kind of a pod's owner may be any text, such as `constructor`. */
const CACHE_OF_KIND: ReadonlyMap<string, "deployments" | "statefulSets" | "daemonSets"> = new Map(
  [
    ["Deployment", "deployments"],
    ["StatefulSet", "statefulSets"],
    ["DaemonSet", "daemonSets"],
  ] satisfies readonly (readonly [WorkloadKind, keyof Caches])[],
);

/** The caches of workloads. */
export type WorkloadCaches = Pick<Caches, "deployments" | "statefulSets" | "daemonSets">;

/** The caches of all kinds of workloads. */
export function workloadCaches(caches: WorkloadCaches): readonly Informer<Workload>[] {
  return Array.from(CACHE_OF_KIND.values(), (name) => caches[name]);
}

/** The first of these workloads that is cached; other kinds are skipped. */
export function workloadOf(
  caches: Pick<ReadCaches, keyof WorkloadCaches>,
  { namespace, refs }: { readonly namespace: string; readonly refs: readonly WorkloadRef[] },
): Workload | undefined {
  for (const { kind, name } of refs) {
    const cache = CACHE_OF_KIND.get(kind);
    const found = cache && caches[cache].get(`${namespace}/${name}`);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** The source of each informer. */
export type SourcesOf<C> = {
  readonly [K in keyof C]: C[K] extends Informer<infer T> ? ListWatch<T> : never;
};

/** The sources of {@linkcode Caches}. */
export type CacheSources = SourcesOf<Caches>;

/** Options that every informer needs. */
export interface CacheOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/** Leases are listed again this often, ms, so that a dead watch does not make all agents look silent. */
const RELIST_LEASES_MS = 120_000;

/** Indexes objects by namespace. */
export function namespaceIndex({ metadata }: ApiObject): string | undefined {
  return metadata.namespace;
}

/** Index values beside namespaces; names of namespaces have no slash. */
const onNode = (nodeName: string): string => `node/${nodeName}`;
const ofOwner = (uid: string): string => `owner/${uid}`;

/** The pods bound to the node, finished ones too. */
export function podsOnNode(
  pods: Pick<Informer<Pod>, "byIndex">,
  nodeName: string,
): readonly Pod[] {
  return pods.byIndex(onNode(nodeName));
}

/** The pods that the object of this UID controls. */
export function podsOwnedBy<P extends ApiObject>(
  pods: Pick<Informer<P>, "byIndex">,
  uid: string,
): readonly P[] {
  return pods.byIndex(ofOwner(uid));
}

/** Indexes pods by namespace, node and controller. */
export function podIndex(
  { metadata: { namespace, owner }, nodeName }: Pick<Pod, "metadata" | "nodeName">,
): readonly string[] {
  return [namespace, onNode(nodeName), ...(owner === undefined ? [] : [ofOwner(owner.uid)])];
}

/** Options of an informer beside its source. */
export type InformerKind<T extends ApiObject> = Pick<
  InformerOptions<T>,
  "name" | "indexBy" | "relistEveryMs"
>;

/** Options of several informers. */
export type InformerKinds<C> = {
  readonly [K in keyof C]: C[K] extends Informer<infer T> ? InformerKind<T> : never;
};

const INFORMERS: InformerKinds<Caches> = {
  pods: { name: "Pod", indexBy: podIndex },
  namespaces: { name: "Namespace" },
  nodes: { name: "Node" },
  allocations: { name: "PodAllocation", indexBy: namespaceIndex },
  leases: { name: "Lease", relistEveryMs: RELIST_LEASES_MS },
  limitRanges: { name: "LimitRange", indexBy: namespaceIndex },
  resourceQuotas: { name: "ResourceQuota", indexBy: namespaceIndex },
  deployments: { name: "Deployment" },
  statefulSets: { name: "StatefulSet" },
  daemonSets: { name: "DaemonSet" },
  horizontalPodAutoscalers: { name: "HorizontalPodAutoscaler", indexBy: namespaceIndex },
  verticalPodAutoscalers: { name: "VerticalPodAutoscaler", indexBy: namespaceIndex },
};

/** Informers that are empty until each is run. */
export function createCaches(sources: CacheSources, options: CacheOptions): Caches {
  return createInformers(INFORMERS, sources, options);
}

/** Informers of these kinds, empty until each is run. */
export function createInformers<C>(
  kinds: InformerKinds<C>,
  sources: SourcesOf<C>,
  options: CacheOptions,
): C {
  const informers = Object.keys(kinds).map((name) => {
    const key = name as keyof C;
    const kind = kinds[key] as InformerKind<ApiObject>;
    const source = sources[key] as ListWatch<ApiObject>;
    return [name, createInformer({ ...options, ...kind, source })];
  });
  return Object.fromEntries(informers);
}

/** Names of the caches that are out of sync. */
export function outOfSync(caches: Caches): readonly string[] {
  return namedCaches(caches).flatMap(([name, { synced }]) => synced ? [] : [name]);
}

/** The informers with their names. */
export function namedCaches(caches: Caches): readonly (readonly [string, Informer<ApiObject>])[] {
  return Object.entries(caches);
}

/**
 * Time in which a working server lists VerticalPodAutoscalers, ms. Their CRD is not ours: its conversion
 * webhook may be down while the cluster works.
 */
export const VPA_WAIT_MS = 30_000;

/**
 * Resolves with true when all caches are in sync, with false when `signal` is aborted first. After the
 * others it waits only {@linkcode VPA_WAIT_MS} for VerticalPodAutoscalers, and then warns: until they are
 * in sync limits are restored and lowered, but not raised.
 */
export async function whenCachesSynced(
  { caches, clock, log }: {
    readonly caches: Caches;
    readonly clock: Pick<Clock, "sleep">;
    readonly log: Pick<Log, "warn">;
  },
  signal: AbortSignal,
): Promise<boolean> {
  const { verticalPodAutoscalers } = caches;
  for (const [, informer] of namedCaches(caches)) {
    if (informer !== verticalPodAutoscalers && !await informer.whenSynced(signal)) return false;
  }
  const synced = await within(
    (late) => verticalPodAutoscalers.whenSynced(AbortSignal.any([signal, late])),
    { clock, ms: VPA_WAIT_MS, late: () => false },
  );
  if (synced || signal.aborted) return synced;
  log.warn("VerticalPodAutoscalers can't be read: limits are not raised until they can", {
    waitedMs: VPA_WAIT_MS,
    known: [...verticalPodAutoscalers.all()].length,
  });
  return true;
}
