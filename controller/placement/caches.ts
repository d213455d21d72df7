/**
 * The copies of the API's state that placement alone reads.
 *
 * @module
 */
import type { PersistentVolume } from "../../shared/api/persistent_volume.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet } from "../../shared/api/replica_set.ts";
import { createInformer, type Informer } from "../../shared/control/informer.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { type CacheOptions, type Caches, podsOwnedBy } from "../allocation/caches.ts";
import type { Pod } from "../../shared/api/pod.ts";
import {
  type OwnedObjects,
  type PlacedObjects,
  podsOfWorkload,
} from "../../shared/placement/workload_snapshot.ts";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import {
  allowedClasses,
  knownNodes,
  volumeConstraints,
} from "../../shared/placement/node_constraints.ts";
import {
  classifyPod,
  type CountableNode,
  type CountablePod,
  type NodeRules,
} from "../../shared/placement/placed_pod.ts";
import type { EvictedPods } from "./evictions.ts";
import type { Copy, KnownWorkload, OwnedPod, WebhookView } from "./ports.ts";

/** The copies: ReplicaSets indexed by their Deployment's UID, budgets by namespace, volumes by claim. */
export interface PlacementInformers {
  readonly replicaSets: Informer<ReplicaSet>;
  readonly budgets: Informer<PodDisruptionBudget>;
  readonly volumes: Informer<PersistentVolume>;
}

/** All that placement reads. */
export interface PlacementCaches
  extends
    PlacementInformers,
    Pick<Caches, "pods" | "nodes" | "namespaces" | "deployments" | "statefulSets"> {}

/** Where each copy comes from. */
export interface PlacementSources {
  readonly replicaSets: ListWatch<ReplicaSet>;
  readonly budgets: ListWatch<PodDisruptionBudget>;
  readonly volumes: ListWatch<PersistentVolume>;
}

/** Copies that are empty until each is run. */
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

/** Copies of one kind, indexed by owner. */
export interface OwnedCopy<T> {
  byIndex(value: string): readonly T[];
}

/** Pods are indexed as in `createCaches()`, ReplicaSets by the UID of their Deployment. */
export function cachedOwners<P extends Pick<Pod, "metadata">>(
  { pods, replicaSets }: {
    readonly pods: OwnedCopy<P>;
    readonly replicaSets: OwnedCopy<ReplicaSet>;
  },
): OwnedObjects<P> {
  return {
    replicaSetsOwnedBy: (uid) => replicaSets.byIndex(uid),
    podsOwnedBy: (uid) => podsOwnedBy(pods, uid),
  };
}

/** The objects of these copies, as they are when they are asked for. */
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

/** A workload with its number of pods. */
export interface CachedWorkload extends Pick<Workload, "kind" | "metadata"> {
  /** Absent where it can't be read. */
  readonly replicas?: { readonly wanted: number; readonly firstOrdinal?: number };
}

/** The copies; pods are indexed by owner, ReplicaSets by the UID of their Deployment, volumes by claim. */
export interface WebhookCaches {
  readonly deployments: Copy<CachedWorkload>;
  readonly statefulSets: Copy<CachedWorkload>;
  readonly replicaSets: Copy<ReplicaSet>;
  readonly pods: Copy<CountablePod>;
  readonly nodes: Copy<CountableNode> & Pick<Informer<CountableNode>, "all">;
  readonly namespaces: Copy<Namespace>;
  readonly volumes: Copy<PersistentVolume>;
}

/** What else tells what a pod counts as. */
export interface FactRules {
  readonly rules: () => NodeRules;
  /**
   * Pods that the controller has evicted; a late copy still shows them.
   *
   * @default none
   */
  readonly evicted?: Pick<EvictedPods, "has">;
}

/** What a pod counts as, for as long as its node and the settings are these. */
interface CountedAs extends NodeRules {
  readonly as: CountedPod;
  readonly node: CountableNode | undefined;
}

/** Facts of these copies. */
export function createWebhookView(
  copies: WebhookCaches,
  { rules, evicted = { has: () => false } }: FactRules,
): WebhookView {
  const { deployments, statefulSets, replicaSets, pods, nodes, namespaces, volumes } = copies;
  const owners = cachedOwners(copies);
  const all = [deployments, statefulSets, replicaSets, pods, nodes, namespaces, volumes];

  function workloadOf({ namespace, owner }: OwnedPod): KnownWorkload | "other" | undefined {
    const { kind, name, uid, apiVersion } = owner;
    const isPlaced = kind === "ReplicaSet" || kind === "StatefulSet";
    if (!isPlaced || !apiVersion.startsWith("apps/")) return "other";
    const key = `${namespace}/${name}`;
    if (kind === "StatefulSet") return knownWorkload(statefulSets.get(key), uid);
    const set = replicaSets.get(key);
    // A set of this name may have been there before.
    if (set?.metadata.uid !== uid) return undefined;
    if (set.deployment === undefined) return "other";
    const { deployment } = set;
    return knownWorkload(deployments.get(`${namespace}/${deployment.name}`), deployment.uid);
  }

  /** Each pod is looked at for each pod that is made beside it, and seldom changes. */
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

  function countAnew(pod: CountablePod, facts: Omit<CountedAs, "as">): CountedPod {
    const { departs: _why, drained: _by, ...standing } = classifyPod(pod, {
      ...facts,
      evicted: false,
    });
    const isAnswered = Object.hasOwn(pod.metadata.labels, CAPACITY);
    return { ...standing, ...(isAnswered ? {} : { unadmitted: true }) };
  }

  function ownerUID({ metadata: { namespace, owner } }: CountablePod): string | undefined {
    const found = owner === undefined ? undefined : workloadOf({ namespace, owner });
    return found === undefined || found === "other" ? undefined : found.uid;
  }

  return {
    get synced() {
      return all.every(({ synced }) => synced);
    },
    workloadOf,
    namespace(name) {
      return namespaces.get(name)?.metadata;
    },
    allowed({ namespace, claims = [], bounds = [] }) {
      const { classes } = rules();
      const all = [...bounds, ...volumeConstraints({ namespace, claims }, volumes.byIndex)];
      return allowedClasses(all, { classes, nodes: knownNodes(nodes.all, classes) });
    },
    podsOf({ kind, uid, namespace }) {
      return podsOfWorkload({ kind, metadata: { uid, namespace } }, owners).map(countedPod);
    },
    onChange(listener) {
      const ends = all.map((copy) => copy.subscribe(listener));
      return () => ends.forEach((end) => end());
    },
    onPod(listener) {
      return pods.subscribe((key) => {
        const pod = pods.get(key);
        const uid = pod && ownerUID(pod);
        if (pod !== undefined && uid !== undefined) listener(countedPod(pod), uid);
      });
    },
  };
}

/** The workload where it is this very one. */
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
