/**
 * The informer caches that placement reads: as objects for the loop, and as a view for the webhook.
 *
 * @module
 */
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { PersistentVolume } from "../../shared/api/node.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../../shared/api/workload.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import {
  allowedClasses,
  knownNodes,
  type NodeConstraint,
  volumeConstraints,
} from "../../shared/placement/node_constraints.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import {
  classifyPod,
  type CountableNode,
  type CountablePod,
  type NodeRules,
} from "../../shared/placement/placed_pod.ts";
import type { PlacementRequest } from "../../shared/placement/new_pod.ts";
import type { LabeledObject } from "../../shared/placement/eligibility.ts";
import type { PlacedWorkload } from "../../shared/placement/split.ts";
import {
  type OwnedObjects,
  type PlacedObjects,
  podsOfWorkload,
} from "../../shared/placement/workload_snapshot.ts";
import { type CacheOptions, type Caches, podsOwnedBy } from "../caches.ts";
import type { EvictionLog } from "./eviction_memory.ts";
import type { PlacementSources } from "./ports.ts";

/** Informers of placement alone: ReplicaSets by their Deployment's UID, budgets by namespace, volumes by claim. */
export interface PlacementInformers {
  readonly replicaSets: Informer<ReplicaSet>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly volumes: Informer<PersistentVolume>;
}

/** All caches that placement reads. */
export interface PlacementCaches
  extends
    PlacementInformers,
    Pick<Caches, "pods" | "nodes" | "namespaces" | "deployments" | "statefulSets"> {}

/** Informers that are empty until each is run. */
export function createPlacementInformers(
  { replicaSets, budgets, volumes }: PlacementSources,
  options: CacheOptions,
): PlacementInformers {
  return {
    replicaSets: createInformer({
      ...options,
      source: replicaSets,
      name: "ReplicaSet",
      indexBy: ({ deployment }) => deployment?.uid,
    }),
    budgets: createInformer({
      ...options,
      source: budgets,
      name: "PodDisruptionBudget",
      indexBy: ({ metadata }) => metadata.namespace,
    }),
    volumes: createInformer({
      ...options,
      source: volumes,
      name: "PersistentVolume",
      indexBy: ({ claim }) => claim,
    }),
  };
}

/** A cache that is indexed by owner. */
interface OwnerIndex<T> {
  byIndex(value: string): readonly T[];
}

function cachedOwners<P extends Pick<Pod, "metadata">>(
  { pods, replicaSets }: {
    readonly pods: OwnerIndex<P>;
    readonly replicaSets: OwnerIndex<ReplicaSet>;
  },
): OwnedObjects<P> {
  return {
    replicaSetsOwnedBy: (uid) => replicaSets.byIndex(uid),
    podsOwnedBy: (uid) => podsOwnedBy(pods, uid),
  };
}

/** The objects of the caches, as they are when they are read. */
export function cachedObjects(caches: PlacementCaches): PlacedObjects {
  const { nodes, namespaces, budgets, volumes } = caches;
  return {
    ...cachedOwners(caches),
    node: (name) => nodes.get(name),
    nodes: () => nodes.all(),
    namespace: (name) => namespaces.get(name),
    budgetsIn: (namespace) => budgets.byIndex(namespace),
    volumesOf: (claim) => volumes.byIndex(claim),
  };
}

/** A cache of one kind. */
export type CacheReader<T extends ApiObject> = Pick<
  Informer<T>,
  "get" | "byIndex" | "synced" | "subscribe"
>;

/** A workload with its number of replicas. */
export interface CachedWorkload extends Pick<Workload, "kind" | "metadata"> {
  /** Absent if they can't be read. */
  readonly replicas?: { readonly wanted: number; readonly firstOrdinal?: number };
}

/** The caches of the webhook; pods are indexed by owner, the others as in `PlacementInformers`. */
export interface WebhookCaches {
  readonly deployments: CacheReader<CachedWorkload>;
  readonly statefulSets: CacheReader<CachedWorkload>;
  readonly replicaSets: CacheReader<ReplicaSet>;
  readonly pods: CacheReader<CountablePod>;
  readonly nodes: CacheReader<CountableNode> & Pick<Informer<CountableNode>, "all">;
  readonly namespaces: CacheReader<Namespace>;
  readonly volumes: CacheReader<PersistentVolume>;
}

/** A workload with pods that may be placed. */
export interface KnownWorkload extends PlacedWorkload, LabeledObject {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The fields of a pod that may limit it to some nodes. */
export interface ConstrainedPod extends Pick<PlacementRequest, "namespace" | "claims"> {
  /** Beside its volumes. @default {[]} */
  readonly constraints?: readonly NodeConstraint[];
}

/** The webhook's view of the cluster. */
export interface WebhookView {
  /** False while a cache is not complete. */
  readonly synced: boolean;
  /** The pod's workload; `other` for owners of other kinds; undefined while it is not known. */
  workloadOf(
    pod: Pick<PlacementRequest, "namespace" | "owner">,
  ): KnownWorkload | "other" | undefined;
  /** Undefined while it is not known. */
  namespace(name: string): LabeledObject | undefined;
  /** Classes with a node that volumes and constraints allow. */
  allowed(pod: ConstrainedPod): readonly NodeClass[];
  /** All pods that the workload owns, of all revisions. */
  podsOf(workload: KnownWorkload): readonly CountedPod[];
  /** Calls at each change of an object, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Calls with each pod that changed and exists, and with its workload's UID. */
  onPod(listener: (pod: CountedPod, workloadUID: string) => void): () => void;
}

/** Settings and evictions that decide how a pod counts. */
export interface WebhookViewOptions {
  readonly rules: () => NodeRules;
  /**
   * Evicted pods that a late cache still shows.
   *
   * @default none
   */
  readonly evicted?: Pick<EvictionLog, "has">;
}

/** How a pod counts while its node and the settings stay the same. */
interface CountedAs extends NodeRules {
  readonly as: CountedPod;
  readonly node: CountableNode | undefined;
}

/** A view of these caches. */
export function createWebhookView(
  caches: WebhookCaches,
  { rules, evicted = { has: () => false } }: WebhookViewOptions,
): WebhookView {
  const { deployments, statefulSets, replicaSets, pods, nodes, namespaces, volumes } = caches;
  const owners = cachedOwners(caches);
  const all = [deployments, statefulSets, replicaSets, pods, nodes, namespaces, volumes];

  const workloadOf: WebhookView["workloadOf"] = ({ namespace, owner }) => {
    const { kind, name, uid, apiVersion } = owner;
    const isPlaced = kind === "ReplicaSet" || kind === "StatefulSet";
    if (!isPlaced || !apiVersion.startsWith("apps/")) return "other";
    const key = `${namespace}/${name}`;
    if (kind === "StatefulSet") return knownWorkload(statefulSets.get(key), uid);
    const set = replicaSets.get(key);
    // The cache may still have an older ReplicaSet of this name.
    if (set?.metadata.uid !== uid) return undefined;
    if (set.deployment === undefined) return "other";
    const { deployment } = set;
    return knownWorkload(deployments.get(`${namespace}/${deployment.name}`), deployment.uid);
  };

  /** Each admission counts all pods of the workload, and they seldom change. */
  const counted = new WeakMap<CountablePod, CountedAs>();

  function countedPod(pod: CountablePod): CountedPod {
    const node = pod.nodeName === "" ? undefined : nodes.get(pod.nodeName);
    const { classes, departures } = rules();
    const known = counted.get(pod);
    const isSame = known?.node === node && known?.classes === classes &&
      known.departures === departures;
    const as = isSame ? known.as : countAnew(pod, { node, classes, departures });
    if (!isSame) counted.set(pod, { as, node, classes, departures });
    return evicted.has(pod.metadata.uid) ? { ...as, gone: true } : as;
  }

  return {
    get synced() {
      return all.every(({ synced }) => synced);
    },
    workloadOf,
    namespace: (name) => namespaces.get(name)?.metadata,
    allowed({ namespace, claims = [], constraints = [] }) {
      const { classes } = rules();
      const both = [...constraints, ...volumeConstraints({ namespace, claims }, volumes.byIndex)];
      return allowedClasses(both, { classes, nodes: knownNodes(nodes.all, classes) });
    },
    podsOf({ kind, uid, namespace }) {
      return podsOfWorkload({ kind, metadata: { uid, namespace } }, owners).map(countedPod);
    },
    onChange(listener) {
      const ends = all.map((cache) => cache.subscribe(listener));
      return () => ends.forEach((end) => end());
    },
    onPod(listener) {
      return pods.subscribe((key) => {
        const pod = pods.get(key);
        const { namespace, owner } = pod?.metadata ?? {};
        if (pod === undefined || namespace === undefined || owner === undefined) return;
        const workload = workloadOf({ namespace, owner });
        if (workload === undefined || workload === "other") return;
        listener(countedPod(pod), workload.uid);
      });
    },
  };
}

function countAnew(pod: CountablePod, input: Omit<CountedAs, "as">): CountedPod {
  const { departs: _why, drained: _by, ...classified } = classifyPod(pod, {
    ...input,
    evicted: false,
  });
  const isAdmitted = Object.hasOwn(pod.metadata.labels, CAPACITY);
  return { ...classified, ...(isAdmitted ? {} : { unadmitted: true }) };
}

/** The workload, if it has this UID. */
function knownWorkload(found: CachedWorkload | undefined, uid: string): KnownWorkload | undefined {
  if (found?.metadata.uid !== uid || found.replicas === undefined) return undefined;
  const { kind, metadata: { namespace, name, labels = {}, annotations }, replicas } = found;
  if (kind === "DaemonSet") return undefined;
  const { wanted, firstOrdinal } = replicas;
  return {
    kind,
    uid,
    namespace,
    name,
    labels,
    annotations,
    replicas: wanted,
    ...(firstOrdinal === undefined ? {} : { firstOrdinal }),
  };
}
