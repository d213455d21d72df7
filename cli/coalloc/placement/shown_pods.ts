/**
 * The pods of a workload, each with what keeps it where it is. Pure.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { PlacedPod } from "../../../shared/placement/placed_pod.ts";
import { momentText } from "./moment_text.ts";
import type { ShownPod } from "./placement_view.ts";

/** What is known of them beside. */
export interface PodFacts {
  /** The same pods as the server has them. */
  readonly pods: readonly Pod[];
  /** False: the class of a pod that has a node is not known. */
  readonly nodesKnown: boolean;
  readonly nowMs: number;
}

/** By class, and then by name, in the order of their ordinals. Those that are gone are left out. */
export function shownPods(
  placed: readonly PlacedPod[],
  { pods, nodesKnown, nowMs }: PodFacts,
): readonly ShownPod[] {
  const nodeOf = new Map(pods.map(({ metadata: { uid }, nodeName }) => [uid, nodeName]));
  return placed.filter(({ gone, departs }) => !gone || departs !== undefined)
    .toSorted((a, b) =>
      (a.class < b.class ? 1 : a.class > b.class ? -1 : 0) ||
      a.name.localeCompare(b.name, "en", { numeric: true })
    )
    .map((pod): ShownPod => ({
      name: pod.name,
      revision: pod.revision,
      node: nodeOf.get(pod.uid) ?? "",
      ...(nodesKnown || !pod.scheduled ? { class: pod.class } : {}),
      ready: pod.ready,
      notes: notesOf(pod, nowMs),
    }));
}

function notesOf(pod: PlacedPod, nowMs: number): readonly string[] {
  const { scheduled, unschedulableSinceMs: since, ready, departs, cordoned, pinned, budget } = pod;
  return [
    ...(scheduled ? [] : [
      since === undefined
        ? "has no node yet"
        : `finds no node since ${momentText(new Date(since).toISOString(), nowMs)}`,
    ]),
    ...(scheduled && !ready ? ["not Ready"] : []),
    ...(departs === undefined ? [] : [`its node is about to go (${departs})`]),
    ...(cordoned ? ["its node is cordoned"] : []),
    ...(pinned === undefined ? [] : [`stays: ${pinned}`]),
    ...(budget === undefined ? [] : [budget]),
  ];
}
