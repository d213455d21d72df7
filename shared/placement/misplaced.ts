/**
 * Replicas that run on the wrong class, in the order in which they should move.
 *
 * @module
 */
import { type NodeClass, otherClass } from "./node_class.ts";
import { ordinalClass, ordinalOf, type PlacedWorkload } from "./next_class.ts";
import { countByClass, type PlacedPod } from "./placed_pod.ts";
import { splitReplicas, type SplitWish } from "./split_replicas.ts";

/**
 * One move: the pod goes, and the one made in its place goes to the class, which is its own where it leaves a
 * node that is about to go.
 */
export interface Move {
  readonly pod: PlacedPod;
  readonly to: NodeClass;
}

/**
 * Those that may move, the best first: to on-demand before to spot, as the floor is what must hold; then
 * pods that are not Ready, those on cordoned nodes, and the youngest. Of a Deployment any pod of the class
 * that has too many will do, by revision. A StatefulSet's pod comes back with its ordinal, which tells
 * its class: only those in the other one help, the highest ordinal first.
 */
export function misplaced(
  pods: readonly PlacedPod[],
  { wish, ...workload }: PlacedWorkload & { readonly wish: SplitWish },
): readonly Move[] {
  const present = pods.filter(({ gone }) => !gone);
  if (workload.kind === "StatefulSet") return byOrdinal(present, { ...workload, wish });
  return Map.groupBy(present, ({ revision }) => revision).values().toArray()
    .flatMap((revision) => surplus(revision, wish))
    .toSorted((a, b) => firstOfMoves(a, b) || b.pod.createdAtMs - a.pod.createdAtMs);
}

/** How many moves it takes until none is misplaced, whoever may move. */
export function misplacedCount(
  pods: readonly PlacedPod[],
  { wish, ...workload }: PlacedWorkload & { readonly wish: SplitWish },
): number {
  const present = pods.filter(({ gone }) => !gone);
  if (workload.kind === "StatefulSet") return byOrdinal(present, { ...workload, wish }).length;
  return Map.groupBy(present, ({ revision }) => revision).values().reduce((sum, revision) => {
    const { spot } = splitReplicas(revision.length, wish);
    return sum + Math.abs(spot - countByClass(revision).spot);
  }, 0);
}

function surplus(pods: readonly PlacedPod[], wish: SplitWish): readonly Move[] {
  const wanted = splitReplicas(pods.length, wish);
  const counts = countByClass(pods);
  return pods.flatMap((pod) =>
    counts[pod.class] > wanted[pod.class] ? [{ pod, to: otherClass(pod.class) }] : []
  );
}

function byOrdinal(
  pods: readonly PlacedPod[],
  options: PlacedWorkload & { readonly wish: SplitWish },
): readonly Move[] {
  return pods.flatMap((pod) => {
    const ordinal = ordinalOf(pod.name);
    if (ordinal === undefined) return [];
    const to = ordinalClass(ordinal, options);
    return to === pod.class ? [] : [{ pod, to, ordinal }];
  }).toSorted((a, b) => firstOfMoves(a, b) || b.ordinal - a.ordinal)
    .map(({ pod, to }) => ({ pod, to }));
}

function firstOfMoves(a: Move, b: Move): number {
  return Number(a.to === "spot") - Number(b.to === "spot") ||
    Number(a.pod.ready) - Number(b.pod.ready) ||
    Number(b.pod.cordoned) - Number(a.pod.cordoned);
}
