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
import type { Workload } from "../shared/api/workload.ts";
import type { Clock } from "../shared/clock.ts";
import {
  createInformer,
  type Informer,
  type InformerOptions,
  type ListWatch,
} from "../shared/control/informer.ts";
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

/** Where each copy comes from. */
export type CacheSources = {
  readonly [K in keyof Caches]: Caches[K] extends Informer<infer T> ? ListWatch<T> : never;
};

/** What every informer needs. */
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

function namespaceOf({ metadata }: ApiObject): string | undefined {
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

/** What pods are indexed by. */
export function podIndex(
  { metadata: { namespace, owner }, nodeName }: Pick<Pod, "metadata" | "nodeName">,
): readonly string[] {
  return [namespace, onNode(nodeName), ...(owner === undefined ? [] : [ofOwner(owner.uid)])];
}

type InformerKind = Pick<InformerOptions<never>, "name" | "indexBy" | "relistEveryMs">;

/** What the informer of each kind has beside its source. */
const INFORMERS: Readonly<Record<keyof Caches, InformerKind>> = {
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
  const made = Object.entries(INFORMERS).map(([key, kind]) => {
    const source = sources[key as keyof Caches] as ListWatch<never>;
    return [key, createInformer({ ...options, ...kind, source })];
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
