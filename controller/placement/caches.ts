/**
 * The informer caches that placement reads, and the webhook's view of them.
 *
 * @module
 */
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Node, PersistentVolume } from "../../shared/api/node.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { PodDisruptionBudget } from "../../shared/api/pod_disruption_budget.ts";
import type { ReplicaSet, Workload } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import {
  allowedClasses,
  knownNodes,
  volumeConstraints,
} from "../../shared/placement/node_constraints.ts";
import type { NodeClass } from "../../shared/placement/node_classes.ts";
import { classifyPod, type NodeRules } from "../../shared/placement/placed_pod.ts";
import type { PlacementRequest } from "../../shared/placement/new_pod.ts";
import {
  type CacheOptions,
  type Caches,
  createInformers,
  type InformerKinds,
  namespaceIndex,
  podsOwnedBy,
  type SourcesOf,
} from "../caches.ts";
import type { EvictionLog } from "./eviction_memory.ts";

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

/** All caches that placement reads, without their subscriptions. */
export type ReadPlacementCaches = {
  readonly [K in keyof PlacementCaches]: Pick<PlacementCaches[K], "get" | "byIndex" | "all">;
};

const INFORMERS: InformerKinds<PlacementInformers> = {
  replicaSets: { name: "ReplicaSet", indexBy: ({ deployment }) => deployment?.uid },
  budgets: { name: "PodDisruptionBudget", indexBy: namespaceIndex },
  volumes: { name: "PersistentVolume", indexBy: ({ claim }) => claim },
};

/** Informers that are empty until each is run. */
export function createPlacementInformers(
  sources: SourcesOf<PlacementInformers>,
  options: CacheOptions,
): PlacementInformers {
  return createInformers(INFORMERS, sources, options);
}

/** All caches that the loop reads. */
export function readCaches(caches: PlacementCaches): readonly Informer<ApiObject>[] {
  return [...webhookCaches(caches), caches.budgets];
}

/** All caches that the webhook reads. */
function webhookCaches(caches: PlacementCaches): readonly Informer<ApiObject>[] {
  const { pods, nodes, namespaces, deployments, statefulSets, replicaSets, volumes } = caches;
  return [pods, nodes, namespaces, deployments, statefulSets, replicaSets, volumes];
}

/** Pods that the workload owns by the UIDs of the chain of controllers, whatever their labels are. */
export function podsOfWorkload(
  { kind, metadata: { uid, namespace } }: Workload,
  { pods, replicaSets }: Pick<ReadPlacementCaches, "pods" | "replicaSets">,
): readonly Pod[] {
  const owners = kind === "Deployment"
    ? replicaSets.byIndex(uid).map(({ metadata }) => metadata.uid)
    : [uid];
  return owners.flatMap((owner) => podsOwnedBy(pods, owner))
    .filter(({ metadata }) => metadata.namespace === namespace);
}

/** The webhook's view of the cluster. */
export interface WebhookView {
  /** False while a cache is not complete. */
  readonly synced: boolean;
  namespace(name: string): Namespace | undefined;
  /** The pod's workload; `other` for owners of other kinds; undefined while it is not known. */
  workloadOf(pod: Pick<PlacementRequest, "namespace" | "owner">): Workload | "other" | undefined;
  /** Classes with a node that volumes and constraints allow. */
  allowed(
    pod: Pick<PlacementRequest, "namespace" | "claims" | "constraints">,
  ): readonly NodeClass[];
  /** All pods that the workload owns, of all revisions. */
  podsOf(workload: Workload): readonly CountedPod[];
  /** Calls `listener` at each change of an object, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Calls `listener` with each created or changed pod and its workload's UID. */
  onPod(listener: (pod: CountedPod, workloadUID: string) => void): () => void;
}

/** A classified pod, valid while its node and the settings stay the same. */
interface CachedPod extends NodeRules {
  readonly classified: CountedPod;
  readonly node: Node | undefined;
}

/** A view of these caches; `evicted` has UIDs of evicted pods that the cache may still have. */
export function createWebhookView(
  caches: PlacementCaches,
  { settings, evicted }: {
    readonly settings: () => NodeRules;
    readonly evicted: Pick<EvictionLog, "has">;
  },
): WebhookView {
  const { deployments, statefulSets, replicaSets, pods, nodes, namespaces, volumes } = caches;
  const all = webhookCaches(caches);

  const workloadOf: WebhookView["workloadOf"] = ({ namespace, owner }) => {
    const { kind, name, uid, apiVersion } = owner;
    const isPlaced = kind === "ReplicaSet" || kind === "StatefulSet";
    if (!isPlaced || !apiVersion.startsWith("apps/")) return "other";
    const key = `${namespace}/${name}`;
    if (kind === "StatefulSet") return withUID(statefulSets.get(key), uid);
    const set = withUID(replicaSets.get(key), uid);
    if (set?.deployment === undefined) return set && "other";
    const { deployment } = set;
    return withUID(deployments.get(`${namespace}/${deployment.name}`), deployment.uid);
  };

  /** Each admission counts all pods of the workload, and they seldom change. */
  const cachedPods = new WeakMap<Pod, CachedPod>();

  function countedPod(pod: Pod): CountedPod {
    const node = pod.nodeName === "" ? undefined : nodes.get(pod.nodeName);
    const { nodeClassifier, departureSigns } = settings();
    let known = cachedPods.get(pod);
    if (
      known?.node !== node || known?.nodeClassifier !== nodeClassifier ||
      known.departureSigns !== departureSigns
    ) {
      const rules = { node, nodeClassifier, departureSigns };
      const classified = classifyPod(pod, { ...rules, evicted: false });
      const isAdmitted = Object.hasOwn(pod.metadata.labels, CAPACITY);
      known = {
        ...rules,
        classified: isAdmitted ? classified : { ...classified, unadmitted: true },
      };
      cachedPods.set(pod, known);
    }
    const { classified } = known;
    return evicted.has(pod.metadata.uid) ? { ...classified, gone: true } : classified;
  }

  return {
    get synced() {
      return all.every(({ synced }) => synced);
    },
    workloadOf,
    namespace: (name) => namespaces.get(name),
    allowed({ namespace, claims, constraints }) {
      const { nodeClassifier: classes } = settings();
      const all = [
        ...constraints,
        ...volumeConstraints({ namespace, claims }, (claim) => volumes.byIndex(claim)),
      ];
      return allowedClasses(all, { classes, nodes: knownNodes(() => nodes.all(), classes) });
    },
    podsOf: (workload) => podsOfWorkload(workload, caches).map(countedPod),
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
        listener(countedPod(pod), workload.metadata.uid);
      });
    },
  };
}

/** The object, unless the cache has another one of the same name. */
function withUID<T extends ApiObject>(found: T | undefined, uid: string): T | undefined {
  return found?.metadata.uid === uid ? found : undefined;
}
