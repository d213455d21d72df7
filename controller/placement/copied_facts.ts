/**
 * What a replica's copies tell of workloads and their pods.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Workload } from "../../shared/api/workload.ts";
import type { ApiObject } from "../../shared/control/list_watch.ts";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import type { NodeClasses } from "../../shared/placement/node_classes.ts";
import { podClassOf, revisionOf } from "../../shared/placement/placed_pod.ts";
import type { Labels } from "../../shared/rightsizing/label_match.ts";
import type { Copy, KnownWorkload, OwnedQuestion, WebhookFacts } from "./webhook_ports.ts";

/** A workload with its number of pods. */
export interface CopiedWorkload extends Pick<Workload, "kind" | "metadata"> {
  /** Absent where it can't be read. */
  readonly replicas?: { readonly wanted: number; readonly firstOrdinal?: number };
}

/** A ReplicaSet, as far as it stands between a pod and a Deployment. */
export interface CopiedReplicaSet extends ApiObject {
  /** The Deployment that controls it; absent where none does. */
  readonly deployment?: { readonly name: string; readonly uid: string };
}

/** A pod, as far as it is counted. */
export interface CopiedPod extends Pick<Pod, "metadata" | "nodeName" | "phase"> {
  /** Labels that its node must have; absent: none. */
  readonly nodeSelector?: Labels;
}

/** A node, as far as it has a class. */
export interface CopiedNode extends ApiObject {
  /** Absent: none. */
  readonly labels?: Labels;
}

/** The copies; pods are indexed by namespace. */
export interface PlacementCopies {
  readonly deployments: Copy<CopiedWorkload>;
  readonly statefulSets: Copy<CopiedWorkload>;
  readonly replicaSets: Copy<CopiedReplicaSet>;
  readonly pods: Copy<CopiedPod>;
  readonly nodes: Copy<CopiedNode>;
  readonly namespaces: Copy<Namespace>;
}

/** What a pod counts as, for as long as its node and the setting are these. */
interface CountedAs {
  readonly as: CountedPod;
  readonly node: CopiedNode | undefined;
  readonly classes: NodeClasses;
}

/** Facts of these copies. */
export function createCopiedFacts(
  copies: PlacementCopies,
  classes: () => NodeClasses,
): WebhookFacts {
  const { deployments, statefulSets, replicaSets, pods, nodes, namespaces } = copies;
  const all = [deployments, statefulSets, replicaSets, pods, nodes, namespaces];

  function workloadOf({ namespace, owner }: OwnedQuestion): KnownWorkload | "other" | undefined {
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
  const counted = new WeakMap<CopiedPod, CountedAs>();

  function countedPod(pod: CopiedPod): CountedPod {
    const node = pod.nodeName === "" ? undefined : nodes.get(pod.nodeName);
    const known = counted.get(pod);
    if (known !== undefined && known.node === node && known.classes === classes()) return known.as;
    // A node without labels is one as well, and no spot node.
    const as = countAnew(pod, node && (node.labels ?? {}));
    counted.set(pod, { as, node, classes: classes() });
    return as;
  }

  function countAnew(pod: CopiedPod, nodeLabels: Labels | undefined): CountedPod {
    const { metadata, nodeName, phase, nodeSelector = {} } = pod;
    const { uid, name, labels, terminating } = metadata;
    return {
      uid,
      name,
      revision: revisionOf(labels),
      class: podClassOf({ labels, nodeSelector, nodeLabels }, classes()),
      gone: terminating || phase === "Succeeded" || phase === "Failed",
      scheduled: nodeName !== "",
      ...(Object.hasOwn(labels, CAPACITY) ? {} : { unanswered: true }),
    };
  }

  function ownerUID({ metadata: { namespace, owner } }: CopiedPod): string | undefined {
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
    podsOf(workload) {
      // A namespace may have thousands of pods, and few owners.
      const owned = new Map<string, boolean>();
      const isOwned = (pod: CopiedPod): boolean => {
        const uid = pod.metadata.owner?.uid;
        if (uid === undefined) return false;
        const known = owned.get(uid) ?? ownerUID(pod) === workload.uid;
        owned.set(uid, known);
        return known;
      };
      return pods.byIndex(workload.namespace).filter(isOwned).map(countedPod);
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
