/**
 * Algorithms that decide for each pod by itself.
 *
 * @module
 */
import { createIntervals, type PodInterval } from "./pod_interval.ts";
import type { Rival, RivalNode, RivalPod } from "./rival.ts";

/**
 * The algorithm at work on one pod: asked at each look but the first, it says the limit that it wants,
 * millicores, or undefined to leave it. It may remember.
 */
export type PodRule = (interval: PodInterval) => number | undefined;

/** An algorithm in which no pod's limit depends on another pod's. */
export interface PerPodAlgorithm extends Pick<Rival, "algorithm" | "setting" | "lookMs"> {
  /** A new rule, which remembers nothing, for one pod. */
  createRule(pod: RivalPod, node: RivalNode): PodRule;
}

/** The algorithm for all pods of a node, each with a rule of its own. */
export function perPod({ algorithm, setting, lookMs, createRule }: PerPodAlgorithm): Rival {
  return {
    algorithm,
    setting,
    lookMs,
    start(pods, node) {
      const rules = pods.map((pod) => createRule(pod, node));
      const intervalsAt = createIntervals();
      return {
        look(atMs, readings) {
          const intervals = intervalsAt(atMs, readings);
          return rules.map((rule, index) => {
            const interval = intervals?.[index];
            return interval === undefined ? undefined : rule(interval);
          });
        },
      };
    },
  };
}

/**
 * A limit within the bounds under which every algorithm runs the pod. A rule that goes on from its own
 * last limit keeps that one within them too, or it would climb out of reach while the ceiling holds it.
 */
export function withinBounds(limit: number, pod: Pick<RivalPod, "floor" | "ceiling">): number {
  return Math.max(pod.floor, Math.min(limit, pod.ceiling));
}
