/**
 * Finds the workloads to reconcile after a change, and remembers since when nodes are about to go.
 *
 * @module
 */
import type { PodOwner } from "../../shared/api/pod.ts";
import { nodeClassOf } from "../../shared/placement/node_classes.ts";
import { departureOf } from "../../shared/placement/node_departure.ts";
import type { NodeRules } from "../../shared/placement/placed_pod.ts";
import { podsOnNode } from "../caches.ts";
import type { PlacementCaches } from "./caches.ts";
import type { PlacementSubject } from "./ports.ts";

/** A workload's key. */
export function placementKey({ kind, namespace, name }: PlacementSubject): string {
  return `${kind}/${namespace}/${name}`;
}

/** The workload that a key names. */
export function subjectUnder(key: string): PlacementSubject {
  const [kind, namespace = "", name = ""] = key.split("/");
  return { kind: kind === "Deployment" ? kind : "StatefulSet", namespace, name };
}

/** Names of all workloads. */
export function placementSubjects(
  { deployments, statefulSets }: Pick<PlacementCaches, "deployments" | "statefulSets">,
): readonly PlacementSubject[] {
  return ([["Deployment", deployments], ["StatefulSet", statefulSets]] as const).flatMap((
    [kind, cache],
  ) => [...cache.all()].map(({ metadata: { namespace, name } }) => ({ kind, namespace, name })));
}

/**
 * Wakes workloads until the returned function is called. A deleted pod wakes nothing, as its workload's
 * status changes, too. A node wakes the workloads of its pods only if a field changed that placement reads.
 */
export function watchWorkloads({ caches, settings, wake, onNode }: {
  readonly caches: PlacementCaches;
  readonly settings: () => NodeRules;
  /** Called with the key of a workload, `Deployment/shop/web`. */
  readonly wake: (key: string) => void;
  /** Called at each update of a node with the sign of its departure; undefined: it stays, or is deleted. */
  readonly onNode: (name: string, sign: string | undefined) => void;
}): () => void {
  const { pods, nodes, namespaces, deployments, statefulSets, replicaSets, budgets } = caches;
  /** The fields of each node that placement reads. */
  const known = new Map<string, string>();

  function wakeOwner(namespace: string, owner: PodOwner | undefined): void {
    if (owner?.kind === "StatefulSet") wake(`StatefulSet/${namespace}/${owner.name}`);
    if (owner?.kind !== "ReplicaSet") return;
    const key = `${namespace}/${owner.name}`;
    if (replicaSets.get(key)?.metadata.uid === owner.uid) wakeOfReplicaSet(key);
  }

  function wakeOfPod(key: string): void {
    const pod = pods.get(key);
    if (pod !== undefined) wakeOwner(pod.metadata.namespace, pod.metadata.owner);
  }

  function wakeOfNode(key: string): void {
    const node = nodes.get(key);
    const { nodeClassifier, departureSigns } = settings();
    const departure = node && departureOf(node, departureSigns);
    onNode(key, departure?.sign);
    const fields = node === undefined ? "" : [
      nodeClassOf(node.labels ?? {}, nodeClassifier),
      node.cordoned === true,
      departure?.sign,
    ].join();
    if ((known.get(key) ?? "") === fields) return;
    if (node === undefined) known.delete(key);
    else known.set(key, fields);
    for (const { metadata } of podsOnNode(pods, key)) wakeOwner(metadata.namespace, metadata.owner);
  }

  function wakeNamespace(name: string): void {
    for (const one of placementSubjects(caches)) {
      if (one.namespace === name) wake(placementKey(one));
    }
  }

  function wakeOfReplicaSet(key: string): void {
    const set = replicaSets.get(key);
    if (set?.deployment === undefined) return;
    wake(`Deployment/${set.metadata.namespace}/${set.deployment.name}`);
  }

  const ends = [
    deployments.subscribe((key) => wake(`Deployment/${key}`)),
    statefulSets.subscribe((key) => wake(`StatefulSet/${key}`)),
    replicaSets.subscribe(wakeOfReplicaSet),
    pods.subscribe(wakeOfPod),
    nodes.subscribe(wakeOfNode),
    namespaces.subscribe(wakeNamespace),
    budgets.subscribe((key) => wakeNamespace(key.split("/")[0] ?? "")),
  ];
  return () => ends.forEach((end) => end());
}

/**
 * The times when nodes first had the sign of their departure, as a sign has no time itself. A pod that was created
 * later was scheduled there in spite of the sign, and so would its replacement.
 */
export interface DepartureTimes {
  /** The node has this sign now; undefined: it has none, or is deleted. */
  observe(node: string, sign: string | undefined): void;
  /** When the node first had the sign, ms since 1970; now, if it is new. */
  sinceMs(node: string, sign: string): number;
}

/** No sign yet. `wall` returns ms since 1970. */
export function createDepartureTimes(wall: () => number): DepartureTimes {
  const all = new Map<string, { readonly sign: string; readonly sinceMs: number }>();

  function sinceMs(node: string, sign: string): number {
    const known = all.get(node);
    const since = known?.sign === sign ? known.sinceMs : wall();
    all.set(node, { sign, sinceMs: since });
    return since;
  }

  return {
    observe(node, sign) {
      if (sign === undefined) all.delete(node);
      else sinceMs(node, sign);
    },
    sinceMs,
  };
}
