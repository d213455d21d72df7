/**
 * The scheduler and the kubelet of the cluster in virtual time in which pods are placed, and the order in
 * which a Deployment is scaled down.
 *
 * @module
 */
import { labelsMatch } from "../../shared/api/label_selector.ts";
import type { Node } from "../../shared/api/node.ts";
import { CAPACITY } from "../../shared/api/placement_keys.ts";
import type { Pod, PodOwner } from "../../shared/api/pod.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import type { PlacedKind } from "../../shared/placement/eligibility.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { secondOf } from "../../shared/placement/placed_pod.ts";
import type { SimulatedAPI } from "../../lab/simulation/api/simulated_api.ts";
import type { VirtualClock } from "../../lab/simulation/virtual_clock.ts";
import { samplePod } from "../contract/support/sample_objects.ts";
import { DELETION_COST } from "../../shared/placement/split.ts";

/** The label of a node with its class. */
export const CAPACITY_TYPE = "karpenter.sh/capacity-type";
/** Until a pod with a node is Ready, ms. */
const STARTS_MS = 2000;

/** How the cluster is set up. */
export interface ClusterOptions {
  /** @default {"Deployment"} */
  readonly kind?: PlacedKind;
  /** How late requests and watches are, ms. @default {10} */
  readonly latencyMs?: number;
  /** True: a budget keeps half of the replicas. @default {false} */
  readonly budget?: boolean;
}

/** The cluster as the scheduler sees it. */
export interface ScheduledCluster {
  readonly api: SimulatedAPI;
  readonly clock: VirtualClock;
  podsOn(node: string): number;
}

/**
 * Gives a pod a node with a class, or makes it Ready. A pod without a selector goes where most room is kept:
 * on-demand.
 */
export function schedule(
  pod: Pod,
  { api, clock, podsOn }: ScheduledCluster,
): void {
  const { Pod, Node } = api.store.tables;
  const { metadata, nodeName, nodeSelector = {}, createdAtMs = 0, ready } = pod;
  const key = objectKey(metadata);
  if (nodeName !== "") {
    const isReady = clock.wall() - createdAtMs >= STARTS_MS;
    if (isReady && !ready) Pod.modify(key, (one) => ({ ...one, phase: "Running", ready: true }));
    return;
  }
  const isSpot = ({ labels = {} }: Node): boolean => labels[CAPACITY_TYPE] === "spot";
  const [node] = Node.all()
    .filter(({ labels = {}, taints = [] }) =>
      labels[CAPACITY_TYPE] !== undefined && taints.length === 0 &&
      labelsMatch(labels, { matchLabels: nodeSelector, matchExpressions: [] })
    )
    .toSorted((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1))
    .toSorted((a, b) => podsOn(a.metadata.name) - podsOn(b.metadata.name))
    .toSorted((a, b) => Number(isSpot(a)) - Number(isSpot(b)));
  if (node !== undefined) {
    Pod.modify(key, ({ unschedulableSinceMs: _since, ...one }) => ({
      ...one,
      nodeName: node.metadata.name,
    }));
  } else if (pod.unschedulableSinceMs === undefined) {
    Pod.modify(key, (one) => ({ ...one, unschedulableSinceMs: secondOf(clock.wall()) }));
  }
}

/** The change of a node that taints it. */
export function tainted(key: string): (node: Node) => Node {
  return (node) => ({ ...node, taints: [{ key, value: "", effect: "NoSchedule" }] });
}

/** Pods that are Ready, by the class of their nodes. */
export function runningCounts(pods: readonly Pod[], { store }: SimulatedAPI): ClassCounts {
  const counts = { spot: 0, "on-demand": 0 };
  for (const { ready, nodeName } of pods) {
    const node = store.tables.Node.get(nodeName);
    if (ready && node !== undefined) counts[node.labels?.[CAPACITY_TYPE] as NodeClass]++;
  }
  return counts;
}

/** Prefix of the names of pods that are not the workload's. */
const FOREIGN = "foreign-";

/** Adds a pod on this node with labels like those of the workload's pods, and another owner or none. */
export function addForeignPod({ store }: SimulatedAPI, nodeName: string, owner?: PodOwner): void {
  const { metadata, ...pod } = samplePod(FOREIGN + nodeName, { nodeName });
  const labels = { app: "web", "pod-template-hash": "r0", [CAPACITY]: "spot" };
  const owned = { ...metadata, labels, ...(owner === undefined ? {} : { owner }) };
  store.tables.Pod.seed({ ...pod, metadata: owned, phase: "Running", ready: true });
}

/** Pods of the workload. */
export function ownPods({ store }: SimulatedAPI): readonly Pod[] {
  return store.tables.Pod.all().filter(({ metadata }) => !metadata.name.startsWith(FOREIGN));
}

/** How many other pods are there. */
export function foreignCount({ store }: SimulatedAPI): number {
  return store.tables.Pod.all().filter(({ metadata: { name, terminating } }) =>
    name.startsWith(FOREIGN) && !terminating
  ).length;
}

/** As a ReplicaSet takes them away: the cheapest first. */
export function byCost(pods: readonly Pod[]): readonly Pod[] {
  const cost = ({ metadata: { annotations } }: Pod): number =>
    Number(annotations[DELETION_COST] ?? 0);
  return pods.toSorted((a, b) => cost(a) - cost(b));
}
