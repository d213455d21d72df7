/**
 * The pods of a workload by the template that they were made of. Pure.
 *
 * @module
 */
import {
  ordinalClass,
  ordinalOf,
  type PlacedWorkload,
  splitReplicas,
  type SplitSpec,
} from "../../../shared/placement/split.ts";
import type { ClassCounts } from "../../../shared/placement/node_classes.ts";
import {
  countByClass,
  isPresent,
  type PlacedPod,
  runningByClass,
  waitingByClass,
} from "../../../shared/placement/placed_pod.ts";
import type { ShownRevision } from "./placement_view.ts";

/** A workload that takes part. */
export type PlacedReplicas = PlacedWorkload & { readonly spec: SplitSpec };

/** How they are counted. */
export interface RevisionOptions {
  /** False: where pods run is not known. */
  readonly nodesKnown: boolean;
  /** Absent: it takes no part. */
  readonly workload?: PlacedReplicas;
}

/**
 * The newest first. Pods that are gone count for nothing, unless they run until their node is drained.
 */
export function shownRevisions(
  pods: readonly PlacedPod[],
  { nodesKnown, workload }: RevisionOptions,
): readonly ShownRevision[] {
  const present = pods.filter(isPresent);
  const revisions = Map.groupBy(present, ({ revision }) => revision);
  return [...revisions].toSorted(([, a], [, b]) => youngest(b) - youngest(a)).map(
    ([revision, members]): ShownRevision => ({
      revision,
      ...(workload === undefined ? {} : { desired: desiredOf(members, workload) }),
      ...(nodesKnown ? { actual: runningByClass(members) } : {}),
      pending: waitingByClass(members),
    }),
  );
}

/** All of them together. */
export function sumOfCounts(list: readonly (ClassCounts | undefined)[]): ClassCounts {
  const sum = { spot: 0, "on-demand": 0 };
  for (const counts of list) {
    sum.spot += counts?.spot ?? 0;
    sum["on-demand"] += counts?.["on-demand"] ?? 0;
  }
  return sum;
}

function youngest(pods: readonly PlacedPod[]): number {
  return Math.max(...pods.map(({ createdAtMs }) => createdAtMs));
}

/** Of a StatefulSet the ordinals decide, of any revision. */
function desiredOf(pods: readonly PlacedPod[], workload: PlacedReplicas): ClassCounts {
  if (workload.kind === "Deployment") return splitReplicas(pods.length, workload.spec);
  return countByClass(pods.map(({ name, class: present }) => {
    const ordinal = ordinalOf(name);
    return {
      gone: false,
      class: ordinal === undefined ? present : ordinalClass(ordinal, workload),
    };
  }));
}
