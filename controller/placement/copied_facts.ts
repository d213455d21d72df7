/**
 * What a replica's copies tell of workloads and their pods.
 *
 * @module
 */
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { PersistentVolume } from "../../shared/api/node.ts";
import type { ReplicaSet, Workload } from "../../shared/api/workload.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import { allowedClasses } from "../../shared/placement/bound_pod.ts";
import { knownNodes } from "../../shared/placement/known_nodes.ts";
import { podsOfWorkload } from "../../shared/placement/placed_workload.ts";
import {
  type CountableNode,
  type CountablePod,
  type NodeRules,
  podStanding,
} from "../../shared/placement/pod_standing.ts";
import { volumeBounds } from "../../shared/placement/volume_bounds.ts";
import { cachedOwners } from "./cached_objects.ts";
import type { EvictedPods } from "./evicted_pods.ts";
import type { Copy, KnownWorkload, OwnedPod, WebhookFacts } from "./webhook_ports.ts";

/** A workload with its number of pods. */
export interface CopiedWorkload extends Pick<Workload, "kind" | "metadata"> {
  /** Absent where it can't be read. */
  readonly replicas?: { readonly wanted: number; readonly firstOrdinal?: number };
}

/** The copies; pods are indexed by owner, ReplicaSets by the UID of their Deployment, volumes by claim. */
export interface FactCopies {
  readonly deployments: Copy<CopiedWorkload>;
  readonly statefulSets: Copy<CopiedWorkload>;
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
export function createCopiedFacts(
  copies: FactCopies,
  { rules, evicted = { has: () => false } }: FactRules,
): WebhookFacts {
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
    const { departs: _why, drained: _by, ...standing } = podStanding(pod, {
      ...facts,
      evicted: false,
    });
    const isAnswered = Object.hasOwn(pod.metadata.labels, CAPACITY);
    return { ...standing, ...(isAnswered ? {} : { unanswered: true }) };
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
      const all = [...bounds, ...volumeBounds({ namespace, claims }, volumes.byIndex)];
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
function knownWorkload(found: CopiedWorkload | undefined, uid: string): KnownWorkload | undefined {
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
