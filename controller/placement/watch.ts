/**
 * Which workloads are to be looked at when something has changed.
 *
 * @module
 */
import type { PodOwner } from "../../shared/api/pod.ts";
import { departureOf } from "../../shared/placement/node_departure.ts";
import { nodeClassOf } from "../../shared/placement/node_classes.ts";
import type { PlacedKind } from "../../shared/placement/eligibility.ts";
import { podsOnNode } from "../allocation/caches.ts";
import type { PlacementConfig } from "../../shared/placement/config.ts";
import type { PlacementCaches } from "./caches.ts";

/** What is followed, and who hears. */
export interface PlacementNewsParts {
  readonly caches: PlacementCaches;
  readonly config: Pick<PlacementConfig, "classes" | "departures">;
  /** Called with the key of a workload, `Deployment/shop/web`. */
  readonly wake: (key: string) => void;
  /** Called at each sign of life of a node, with that of its departure; undefined: it stays, or is gone. */
  readonly heardNode?: (name: string, sign: string | undefined) => void;
}

/** A workload's key. */
export function placementKey(
  kind: PlacedKind,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): string {
  return `${kind}/${namespace}/${name}`;
}

/** Keys of all workloads there are. */
export function* allPlacementKeys(
  { deployments, statefulSets }: Pick<PlacementCaches, "deployments" | "statefulSets">,
): Iterable<string> {
  for (const { metadata } of deployments.all()) yield placementKey("Deployment", metadata);
  for (const { metadata } of statefulSets.all()) yield placementKey("StatefulSet", metadata);
}

/**
 * Wakes until the returned function is called. A pod that is gone wakes nobody: its workload's status
 * tells of it, too. Nodes wake their pods' workloads when something has changed that placement reads,
 * and not with each sign of life.
 */
export function watchWorkloads(
  { caches, config, wake, heardNode }: PlacementNewsParts,
): () => void {
  const { pods, nodes, namespaces, deployments, statefulSets, replicaSets, budgets } = caches;
  /** What was known of each node. */
  const known = new Map<string, string>();

  function wakeOwner(namespace: string, owner: PodOwner | undefined): void {
    if (owner?.kind === "StatefulSet") {
      wake(placementKey("StatefulSet", { namespace, name: owner.name }));
    }
    if (owner?.kind !== "ReplicaSet") return;
    const set = replicaSets.get(`${namespace}/${owner.name}`);
    if (set?.deployment === undefined || set.metadata.uid !== owner.uid) return;
    wake(placementKey("Deployment", { namespace, name: set.deployment.name }));
  }

  function hearPod(key: string): void {
    const pod = pods.get(key);
    if (pod !== undefined) wakeOwner(pod.metadata.namespace, pod.metadata.owner);
  }

  function hearNode(key: string): void {
    const node = nodes.get(key);
    const departure = node && departureOf(node, config.departures);
    heardNode?.(key, departure?.sign);
    const words = node === undefined ? "" : [
      nodeClassOf(node.labels ?? {}, config.classes),
      node.cordoned === true,
      departure?.sign,
    ].join();
    if ((known.get(key) ?? "") === words) return;
    if (node === undefined) known.delete(key);
    else known.set(key, words);
    for (const { metadata } of podsOnNode(pods, key)) wakeOwner(metadata.namespace, metadata.owner);
  }

  function wakeNamespace(name: string): void {
    for (const key of allPlacementKeys(caches)) if (key.split("/")[1] === name) wake(key);
  }

  function hearReplicaSet(key: string): void {
    const set = replicaSets.get(key);
    if (set?.deployment === undefined) return;
    wake(placementKey("Deployment", { ...set.metadata, name: set.deployment.name }));
  }

  const ends = [
    deployments.subscribe((key) => wake(`Deployment/${key}`)),
    statefulSets.subscribe((key) => wake(`StatefulSet/${key}`)),
    replicaSets.subscribe(hearReplicaSet),
    pods.subscribe(hearPod),
    nodes.subscribe(hearNode),
    namespaces.subscribe(wakeNamespace),
    budgets.subscribe((key) => wakeNamespace(key.split("/")[0] ?? "")),
  ];
  return () => ends.forEach((end) => end());
}

/** The signs, by node. */
export interface DepartureTimes {
  /** The node has this sign now; undefined: none, or it is gone. */
  hear(node: string, sign: string | undefined): void;
  /** When it was first seen there, ms since 1970: now, if never before. */
  sinceMs(node: string, sign: string): number;
}

/** None seen yet. `wall` tells ms since 1970. */
export function createDepartureTimes(wall: () => number): DepartureTimes {
  const seen = new Map<string, { readonly sign: string; readonly sinceMs: number }>();

  function sinceMs(node: string, sign: string): number {
    const known = seen.get(node);
    if (known?.sign === sign) return known.sinceMs;
    const now = wall();
    seen.set(node, { sign, sinceMs: now });
    return now;
  }

  return {
    hear(node, sign) {
      if (sign === undefined) seen.delete(node);
      else sinceMs(node, sign);
    },
    sinceMs,
  };
}
