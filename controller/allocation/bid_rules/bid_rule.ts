/**
 * A rule of the bids: what one fact of the cluster means for a pod's bounds.
 *
 * @module
 */
import type { HorizontalPodAutoscaler } from "../../../shared/api/autoscalers.ts";
import type { Node } from "../../../shared/api/node.ts";
import type { Namespace } from "../../../shared/api/namespace.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import type { Workload } from "../../../shared/api/workload.ts";
import type { MetricFact } from "../../metrics_demand/metric_fact.ts";

/** What the rules look at. */
export interface BidFacts {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  readonly node: Node | undefined;
  /** The workload of the pod; undefined for other kinds, and for bare pods. */
  readonly workload: Workload | undefined;
  /** Since when its rollout has made no step, ms since 1970; absent while it has none. */
  readonly rolloutStillSinceMs?: number | undefined;
  /** Those that scale the pod's workload. */
  readonly autoscalers: readonly HorizontalPodAutoscaler[];
  /** What a metric says of the pod; absent where it names none, or nothing is known yet. */
  readonly metric?: MetricFact | undefined;
  /** Objects that might hold the pod's limits and can't be read, each with why. @default {[]} */
  readonly unreadable?: readonly string[];
  /** Wall-clock time, ms since 1970: the API's objects speak of it. */
  readonly nowMs: number;
}

/** What a rule says. */
export interface BidWord {
  readonly reason: BoundReason;
  /** In a sentence, with its numbers. */
  readonly message: string;
  /** The container that it is about; absent: all. */
  readonly container?: string;
  readonly held?: ContainerBounds["held"];
  /** Bound of the limit from below, millicores; the ceiling cuts it. */
  readonly floor?: number;
  /** Factor on the ceiling that the own limit gives. */
  readonly boost?: number;
  /** Demand that counts if it is more than what the kernel shows, millicores. */
  readonly demand?: number;
  /** When it ends by itself, ms since 1970; absent: when something changes. */
  readonly untilMs?: number;
}

/** A rule; nothing to say is an empty list. */
export type BidRule = (facts: BidFacts) => readonly BidWord[];
