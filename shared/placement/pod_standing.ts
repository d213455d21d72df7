/**
 * What a pod counts as: the one answer for webhook and controller.
 *
 * @module
 */
import type { Node } from "../api/node.ts";
import type { Pod } from "../api/pod.ts";
import type { NodeClasses } from "./node_classes.ts";
import { departureOf, type DepartureSigns } from "./node_departure.ts";
import { type PlacedPod, podClassOf, revisionOf } from "./placed_pod.ts";

/** A pod, as far as it is counted. */
export type CountablePod = Pick<Pod, "metadata" | "nodeName" | "phase" | "nodeSelector">;

/** A node, as far as it tells of its pods. */
export type CountableNode = Pick<Node, "metadata" | "labels" | "taints" | "alarms">;

/** What settings say of nodes. */
export interface NodeRules {
  readonly classes: NodeClasses;
  readonly departures: DepartureSigns;
}

/** Where the pod is. */
export interface StandingFacts extends NodeRules {
  /** Undefined while it has none, or where that is not known. */
  readonly node: CountableNode | undefined;
  /** True where it was evicted, whatever a late copy shows. */
  readonly evicted: boolean;
}

/** The pod, as far as all that count it must agree. */
export type PodStanding = Pick<
  PlacedPod,
  "uid" | "name" | "revision" | "class" | "gone" | "departs" | "drained" | "scheduled"
>;

/** Pods that are deleted, have ended or lose their node are gone: they count for nothing. */
export function podStanding(pod: CountablePod, facts: StandingFacts): PodStanding {
  const { metadata: { uid, name, labels, terminating }, nodeName, phase } = pod;
  const { node, classes, departures, evicted } = facts;
  const ended = terminating || phase === "Succeeded" || phase === "Failed" || evicted;
  const departure = ended || node === undefined ? undefined : departureOf(node, departures);
  return {
    uid,
    name,
    revision: revisionOf(labels),
    class: podClassOf({
      labels,
      nodeSelector: pod.nodeSelector ?? {},
      // A node without labels is one as well, and no spot node.
      nodeLabels: node && (node.labels ?? {}),
    }, classes),
    gone: ended || departure !== undefined,
    ...(departure === undefined ? {} : { departs: departure.sign }),
    ...(departure?.drained ? { drained: true } : {}),
    scheduled: nodeName !== "",
  };
}
