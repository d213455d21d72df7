/**
 * How replicas divide between spot and on-demand nodes: the split, the class of the next pod, the pods of the
 * wrong class, and the order in which a scale-down deletes pods.
 *
 * @module
 */
import type { ReplicaCounts } from "../api/workload.ts";
import type { PlacedKind, PlacementSpec } from "./eligibility.ts";
import { type ClassCounts, NODE_CLASSES, type NodeClass, otherClass } from "./node_classes.ts";
import { countByClass, type PlacedPod } from "./placed_pod.ts";

/** The part of a spec that determines the split. */
export type SplitSpec = Pick<PlacementSpec, "spotPercentage" | "minOnDemand">;

/** The part of a workload that determines the split. */
export interface PlacedWorkload extends Pick<ReplicaCounts, "replicas" | "firstOrdinal"> {
  readonly kind: PlacedKind;
}

/**
 * Divides replicas: spot = min(⌊replicas × percentage⌋, replicas − floor), on-demand = replicas − spot. So the
 * floor takes precedence over the percentage. 10 replicas, 60 %, floor 2: 6 and 4; 3 replicas: 1 and 2.
 * One replica more adds one to one of the two counts, so replicas can be placed and removed one by one.
 */
export function splitReplicas(
  replicas: number,
  { spotPercentage, minOnDemand }: SplitSpec,
): ClassCounts {
  const shared = Math.floor(replicas * spotPercentage / 100);
  const spot = Math.max(0, Math.min(shared, replicas - minOnDemand));
  return { spot, "on-demand": replicas - spot };
}

/** The floor of on-demand replicas, at most all of them. */
export function floorOf(replicas: number, { minOnDemand }: SplitSpec): number {
  return Math.min(replicas, minOnDemand);
}

/**
 * The class of the next pod beside the counted ones: the class that lacks a pod. Thus the floor is filled first,
 * and pods of the wrong class are compensated first.
 */
export function nextClass(counts: ClassCounts, spec: SplitSpec): NodeClass {
  const { spot } = splitReplicas(counts.spot + counts["on-demand"] + 1, spec);
  return counts.spot < spot ? "spot" : "on-demand";
}

/**
 * The class of a StatefulSet's pod: on-demand for the lowest ordinals, as a scale-down deletes the highest
 * and must keep the floor.
 */
export function ordinalClass(
  ordinal: number,
  { replicas, firstOrdinal = 0, spec }: Omit<PlacedWorkload, "kind"> & { readonly spec: SplitSpec },
): NodeClass {
  const onDemand = splitReplicas(replicas, spec)["on-demand"];
  return ordinal - firstOrdinal < onDemand ? "on-demand" : "spot";
}

/** The ordinal in the name of a StatefulSet's pod: `web-12` → 12; undefined if there is none. */
export function ordinalOf(podName: string): number | undefined {
  const digits = /-(\d{1,10})$/.exec(podName)?.[1];
  return digits === undefined ? undefined : Number(digits);
}

/** A move: the pod is evicted, and its replacement goes to the class; the same one if its node is about to go. */
export interface Move {
  readonly pod: PlacedPod;
  readonly to: NodeClass;
}

/**
 * Moves that help, the best first: to on-demand before to spot, as the floor must hold; then pods that are
 * not Ready, those on cordoned nodes, and the youngest. In a Deployment any pod of the class with too many
 * pods helps, by revision. A StatefulSet's pod keeps its ordinal, which determines its class: only pods of
 * the wrong class help, the highest ordinal first.
 */
export function rankedMoves(
  pods: readonly PlacedPod[],
  workload: PlacedWorkload & { readonly spec: SplitSpec },
): readonly Move[] {
  if (workload.kind === "StatefulSet") return byOrdinal(pods, workload);
  return revisionsOf(pods).flatMap((revision) => surplus(revision, workload.spec))
    .toSorted((a, b) => compareMoves(a, b) || b.pod.createdAtMs - a.pod.createdAtMs);
}

/** How many moves it takes until no pod is misplaced, whether pods may move or not. */
export function misplacedCount(
  pods: readonly PlacedPod[],
  workload: PlacedWorkload & { readonly spec: SplitSpec },
): number {
  if (workload.kind === "StatefulSet") return byOrdinal(pods, workload).length;
  return revisionsOf(pods).reduce((sum, revision) => {
    const { spot } = splitReplicas(revision.length, workload.spec);
    return sum + Math.abs(spot - countByClass(revision).spot);
  }, 0);
}

function revisionsOf(pods: readonly PlacedPod[]): PlacedPod[][] {
  const present = pods.filter(({ gone }) => !gone);
  return [...Map.groupBy(present, ({ revision }) => revision).values()];
}

function surplus(pods: readonly PlacedPod[], spec: SplitSpec): readonly Move[] {
  const wanted = splitReplicas(pods.length, spec);
  const counts = countByClass(pods);
  return pods.filter((pod) => counts[pod.class] > wanted[pod.class])
    .map((pod) => ({ pod, to: otherClass(pod.class) }));
}

function byOrdinal(
  pods: readonly PlacedPod[],
  options: PlacedWorkload & { readonly spec: SplitSpec },
): readonly Move[] {
  return pods.flatMap((pod) => {
    const ordinal = ordinalOf(pod.name);
    if (pod.gone || ordinal === undefined) return [];
    const to = ordinalClass(ordinal, options);
    return to === pod.class ? [] : [{ pod, to, ordinal }];
  }).toSorted((a, b) => compareMoves(a, b) || b.ordinal - a.ordinal)
    .map(({ pod, to }) => ({ pod, to }));
}

function compareMoves(a: Move, b: Move): number {
  return Number(a.to === "spot") - Number(b.to === "spot") ||
    Number(a.pod.ready) - Number(b.pod.ready) ||
    Number(b.pod.cordoned) - Number(a.pod.cordoned);
}

/** The pods' annotation: of equally ready pods, a scale-down deletes the one with the lowest cost first. */
export const DELETION_COST = "controller.kubernetes.io/pod-deletion-cost";

/** The annotation holds 32 bits. */
const LOWEST = -(2 ** 31);

/** A cost to write. */
export interface CostChange {
  readonly pod: PlacedPod;
  readonly cost: number;
}

/**
 * The cost of the `nth` pod of a class, from 1: minus the least number of replicas at which the split has as many
 * pods of the class. So a scale-down deletes the pod that the split of fewer replicas does not need. A cost
 * depends on nothing else, so pods keep it while others come and go.
 *
 * 70 %, no floor: on-demand 1, 4, 7, … replicas → −1, −4, −7; spot 2, 3, 5, … → −2, −3, −5.
 */
export function costOf(
  nth: number,
  { class: nodeClass, spec }: { readonly class: NodeClass; readonly spec: SplitSpec },
): number {
  const { spotPercentage, minOnDemand } = spec;
  const replicas = nodeClass === "spot"
    ? Math.max(Math.ceil(100 * nth / spotPercentage), nth + minOnDemand)
    : nth <= minOnDemand
    ? nth
    : Math.floor(100 * (nth - 1) / (100 - spotPercentage)) + 1;
  // No number of replicas has as many: these pods go before all others, the last first.
  return Number.isFinite(replicas) ? -replicas : LOWEST + 1_000_000 - nth;
}

/**
 * Changes that give the pods of one revision the costs of the first pods of their class. A pod with one of these
 * costs keeps it; of the other pods, the oldest gets the highest cost that is left.
 */
export function costChanges(pods: readonly PlacedPod[], spec: SplitSpec): readonly CostChange[] {
  return NODE_CLASSES.flatMap((one) => {
    const members = pods.filter((pod) => pod.class === one && !pod.gone);
    const free = new Set(members.map((_, index) => costOf(index + 1, { class: one, spec })));
    const unpriced = members.filter(({ deletionCost }) =>
      deletionCost === undefined || !free.delete(deletionCost)
    ).toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.uid < b.uid ? -1 : 1));
    const costs = [...free].sort((a, b) => b - a);
    return unpriced.map((pod, index) => ({ pod, cost: costs[index]! }));
  });
}
