/**
 * The controller's copies of the API's state.
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
 * The copies. Kinds of which a namespace may hold several that concern a pod are indexed by it, pods by
 * their node and their controller, too: see `podsOnNode()` and `podsOwnedBy()`. The node costs 5 MB at
 * 150,000 pods on 5,000 nodes.
 */
export interface Caches {
  readonly pods: Informer<Pod>;
  readonly namespaces: Informer<Namespace>;
  readonly nodes: Informer<Node>;
  readonly allocations: Informer<PodAllocation>;
  /** Those of the agents; others do no harm. */
  readonly leases: Informer<Lease>;
  readonly limitRanges: Informer<LimitRange>;
  readonly resourceQuotas: Informer<ResourceQuota>;
  readonly deployments: Informer<Workload>;
  readonly statefulSets: Informer<Workload>;
  readonly daemonSets: Informer<Workload>;
  readonly horizontalPodAutoscalers: Informer<HorizontalPodAutoscaler>;
  /** Empty where the server does not know the kind. */
  readonly verticalPodAutoscalers: Informer<VerticalPodAutoscaler>;
}

/** The copies of what concerns a pod, to read. */
export type ReadCaches = {
  readonly [K in Exclude<keyof Caches, "leases">]: Pick<Caches[K], "get" | "byIndex" | "all">;
};

/** A map, since a pod may name any kind as its owner: `constructor`, too. */
const CACHE_OF_KIND: ReadonlyMap<string, "deployments" | "statefulSets" | "daemonSets"> = new Map(
  [
    ["Deployment", "deployments"],
    ["StatefulSet", "statefulSets"],
    ["DaemonSet", "daemonSets"],
  ] satisfies readonly (readonly [WorkloadKind, keyof Caches])[],
);

/** The copies of workloads. */
export type WorkloadCaches = Pick<Caches, "deployments" | "statefulSets" | "daemonSets">;

/** The copies of all kinds of workloads. */
export function workloadCaches(caches: WorkloadCaches): readonly Informer<Workload>[] {
  return Array.from(CACHE_OF_KIND.values(), (name) => caches[name]);
}

/** The first of these workloads that is there; other kinds are passed over. */
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

/** Where each of these copies comes from. */
export type SourcesOf<C> = {
  readonly [K in keyof C]: C[K] extends Informer<infer T> ? ListWatch<T> : never;
};

/** Where each copy comes from. */
export type CacheSources = SourcesOf<Caches>;

/** Options that every informer needs. */
export interface CacheOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
}

/**
 * Leases are listed again this often, ms: a watch that has died silently must not make every
 * agent look silent.
 */
const RELIST_LEASES_MS = 120_000;

/** The index of objects by their namespaces. */
export function namespaceOf({ metadata }: ApiObject): string | undefined {
  return metadata.namespace;
}

/** Values of the index beside namespaces, of which no name has a slash. */
const onNode = (nodeName: string): string => `node/${nodeName}`;
const ofOwner = (uid: string): string => `owner/${uid}`;

/** The pods that the scheduler has put on the node, finished ones too. */
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

/** The keys by which pods are indexed. */
export function podIndex(
  { metadata: { namespace, owner }, nodeName }: Pick<Pod, "metadata" | "nodeName">,
): readonly string[] {
  return [namespace, onNode(nodeName), ...(owner === undefined ? [] : [ofOwner(owner.uid)])];
}

/** Options of an informer beside its source: the kind's name, its index, and how often it lists again. */
export type InformerKind<T extends ApiObject> = Pick<
  InformerOptions<T>,
  "name" | "indexBy" | "relistEveryMs"
>;

/** Those of all kinds. */
export type InformerKinds<C> = {
  readonly [K in keyof C]: C[K] extends Informer<infer T> ? InformerKind<T> : never;
};

const INFORMERS: InformerKinds<Caches> = {
  pods: { name: "Pod", indexBy: podIndex },
  namespaces: { name: "Namespace" },
  nodes: { name: "Node" },
  allocations: { name: "PodAllocation", indexBy: namespaceOf },
  leases: { name: "Lease", relistEveryMs: RELIST_LEASES_MS },
  limitRanges: { name: "LimitRange", indexBy: namespaceOf },
  resourceQuotas: { name: "ResourceQuota", indexBy: namespaceOf },
  deployments: { name: "Deployment" },
  statefulSets: { name: "StatefulSet" },
  daemonSets: { name: "DaemonSet" },
  horizontalPodAutoscalers: { name: "HorizontalPodAutoscaler", indexBy: namespaceOf },
  verticalPodAutoscalers: { name: "VerticalPodAutoscaler", indexBy: namespaceOf },
};

/** Copies that are empty until each is run. */
export function createCaches(sources: CacheSources, options: CacheOptions): Caches {
  return createInformers(INFORMERS, sources, options);
}

/** Copies of these kinds, which are empty until each is run. */
export function createInformers<C>(
  kinds: InformerKinds<C>,
  sources: SourcesOf<C>,
  options: CacheOptions,
): C {
  const made = Object.keys(kinds).map((name) => {
    const key = name as keyof C;
    const kind = kinds[key] as InformerKind<ApiObject>;
    const source = sources[key] as ListWatch<ApiObject>;
    return [name, createInformer({ ...options, ...kind, source })];
  });
  return Object.fromEntries(made);
}

/** Names of the copies that don't follow the server now. */
export function outOfSync(caches: Caches): readonly string[] {
  return namedCaches(caches).flatMap(([name, { synced }]) => synced ? [] : [name]);
}

/** The caches with their names, for the program that runs them. */
export function namedCaches(caches: Caches): readonly (readonly [string, Informer<ApiObject>])[] {
  return Object.entries(caches);
}

/**
 * Any working server has listed by then, ms. Another vendor defines VerticalPodAutoscalers: its
 * conversion webhook may be down while the cluster works.
 */
export const VPA_WAIT_MS = 30_000;

/**
 * Resolves with true when all caches are in sync, with false when `signal` is aborted first. For
 * VerticalPodAutoscalers it waits only a while after the others, and then warns: until they are known
 * limits come back and are lowered, but not raised.
 */
export async function copiesInSync(
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
    (timeout) => verticalPodAutoscalers.whenSynced(AbortSignal.any([signal, timeout])),
    { clock, ms: VPA_WAIT_MS, onTimeout: () => false },
  );
  if (synced || signal.aborted) return synced;
  log.warn("VerticalPodAutoscalers can't be read: limits are not raised until they can", {
    waitedMs: VPA_WAIT_MS,
    known: [...verticalPodAutoscalers.all()].length,
  });
  return true;
}
