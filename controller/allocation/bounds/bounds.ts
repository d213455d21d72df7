/**
 * The controller's half of the bids: floor, ceiling and weight of each container that has a CPU limit.
 *
 * @module
 */
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { Bounds, ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import { LEAST_CPU } from "../../../shared/market/clearing_round.ts";
import { metricWarnings } from "../../metrics_demand/metric_fact.ts";
import type { BidEffect, BidFacts } from "../bid_rules/bid_rule.ts";
import { isSystemCritical } from "../bid_rules/system_critical.ts";
import { createBoundRules, type KnownRule } from "./bound_rules.ts";
import { type Ceiling, namespaceBounds, type QuotaBounds } from "./namespace_bounds.ts";
import type { AnnotationWarning } from "./annotation_warning.ts";
import type { Overrides } from "./overrides.ts";
import { PRIORITY_MULTIPLIER } from "../../../shared/api/market_keys.ts";
import { qosKeeper } from "./qos_keeper.ts";
import { participantsOf } from "./participants.ts";
import type { ResourceRanges } from "../../../shared/resize/inputs/resize_input.ts";
import { atOriginalRequests } from "../original_limits.ts";

/** Input of the bounds. */
export interface BoundsInput extends BidFacts {
  /** The original limits, millicores by container name. */
  readonly originalLimits: ReadonlyMap<string, number>;
  readonly burstFactor: number;
  /**
   * The least ceiling that the burst factor gives, where no namespace sets it, millicores. @default {0}
   */
  readonly leastCeiling?: number | undefined;
  /** Multiplier of the weight by `spec.priority`. */
  readonly priorityMultiplier: (priority: number) => number;
  /** The CPU ranges of the namespace's LimitRanges; absent when there are none. */
  readonly limitRange?: ResourceRanges | undefined;
  /** The bounds that its quotas give the pod; absent when none counts the pod. */
  readonly quota?: QuotaBounds | undefined;
  /**
   * The user's own requests, millicores by container name, where the market moves those in the spec.
   *
   * @default {those in the spec}
   */
  readonly ownRequests?: ReadonlyMap<string, number>;
  /** The pod's largest total, given the requests on its node; absent where its requests stay. */
  readonly nodeCeiling?: number | undefined;
}

/** Every pod may keep this much, or its original limit if that is less. Millicores. */
const LEAST_LIMIT = 100;
/** One container may have at most this share of a node. */
const NODE_SHARE = 0.9;

/** Bounds without their revision. */
export interface BoundsDraft extends Omit<Bounds, "revision"> {
  readonly rules: KnownRule[];
  /** Annotations that don't count, and why. */
  readonly warnings: readonly AnnotationWarning[];
  /** Time of the next change without an event, ms since 1970; absent: they change by events only. */
  readonly untilMs?: number;
}

/**
 * The bounds of a pod as the API's state has them now.
 *
 * Where a quota needs raises back, a hold against decreases becomes a floor at the limit that remains:
 * the agent and the check of its values then need no exception, and neither can take more.
 */
export function boundsOf(input: BoundsInput): BoundsDraft {
  const { node, originalLimits } = input;
  const pod = atOriginalRequests(input.pod, input.ownRequests ?? new Map());
  const { participants, overrides, effects } = participantsOf({ ...input, pod });
  const theirs = namespaceBounds(participants, {
    ...input,
    pod,
    limitRange: input.limitRange?.cpu,
  });
  const multiplier = overrides.priorityMultiplier ?? input.priorityMultiplier(pod.priority);
  const keeper = qosKeeper({ pod, originalLimits });
  const moves = movesRequest(pod);
  const rules = createBoundRules();
  for (const effect of effects) rules.add(effect);
  if (multiplier !== 1) rules.add(weightMultiplied(multiplier, { pod, overrides }));
  const containers = participants.map((participant, index): ContainerBounds => {
    const {
      container: { name, requests: { cpu: requestCPU = 0 }, restartsOnCPU },
      containerID,
      own,
      allowed,
    } = participant;
    const spare = name === keeper ? LEAST_CPU : 0;
    const { floor: least = 0, ceilings = [], backTo } = theirs[index] ?? {};
    const applying = effects.filter(({ container = name }) => container === name);
    const floor = Math.max(requestCPU + spare, Math.min(LEAST_LIMIT, own), LEAST_CPU, least);
    const lowest = lowestOf([
      allowed,
      {
        ceiling: node === undefined ? Infinity : Math.floor(node.allocatableCPU * NODE_SHARE),
        reason: "NodeSize",
        source: "90 % of the node",
      },
      {
        ceiling: pod.podLevel?.limits.cpu ?? Infinity,
        reason: "PodLevelLimit",
        source: "the limit of the pod as a whole",
      },
      ...ceilings,
    ]);
    const ceiling = Math.max(floor, lowest.ceiling);
    rules.ceiling(name, { floor, lowest });
    const wanted = Math.max(0, ...applying.map((effect) => effect.floor ?? 0));
    if (wanted > ceiling) rules.capped(name, { wanted, ceiling });
    const held = strongest([
      ...applying.map((effect) => effect.held),
      ...(keeper === null || restartsOnCPU ? ["both"] as const : []),
    ]);
    if (keeper === null) rules.add(QOS_WOULD_CHANGE);
    if (restartsOnCPU) rules.add(restartPolicy(name));
    // Only raises are undone: no limit falls below the original one.
    const yields = held === "lower" && backTo !== undefined && !isSystemCritical(pod);
    const kept = yields ? Math.max(floor, backTo) : 0;
    const boosted = applying.some(({ boost }) => boost !== undefined);
    const demand = Math.max(0, ...applying.map((effect) => effect.demand ?? 0));
    return {
      name,
      containerID,
      floor: Math.max(floor, Math.min(wanted, ceiling), kept),
      ceiling: Math.max(ceiling, kept),
      weight: Math.max(1, requestCPU) * multiplier,
      ...(held === undefined || yields ? {} : { held }),
      ...(boosted ? { boost: true } : {}),
      ...(demand > 0 ? { demand } : {}),
      ...(moves ? { requestMoves: true as const } : {}),
    };
  });
  const quotaEnds = input.quota?.againMs === undefined ? [] : [input.nowMs + input.quota.againMs];
  const ends = [...effects.flatMap(({ untilMs }) => untilMs ?? []), ...quotaEnds];
  return {
    ...rules.summary(),
    containers,
    warnings: [...overrides.warnings, ...metricWarnings(input.metric)],
    ...(ends.length === 0 ? {} : { untilMs: Math.min(...ends) }),
  };
}

const QOS_WOULD_CHANGE = {
  reason: "QoSWouldChange",
  message: "with lower limits the pod would be Guaranteed, which the API refuses",
} as const;

function weightMultiplied(
  multiplier: number,
  { pod: { priority, priorityClassName }, overrides }: {
    readonly pod: Pick<Pod, "priority" | "priorityClassName">;
    readonly overrides: Pick<Overrides, "priorityMultiplier">;
  },
): KnownRule {
  const ofClass = priorityClassName === undefined ? "" : ` (class ${priorityClassName})`;
  const by = overrides.priorityMultiplier === undefined
    ? `priority ${priority}${ofClass}`
    : `annotation ${PRIORITY_MULTIPLIER}`;
  return { reason: "WeightMultiplied", message: `weight × ${multiplier.toFixed(2)}: ${by}` };
}

function restartPolicy(name: string): Pick<BidEffect, "reason" | "message"> {
  return { reason: "RestartPolicy", message: `resizePolicy restarts ${name} on a CPU change` };
}

const HOLDS = ["half", "lower", "both"] as const;

/** The hold that includes all others. */
function strongest(holds: readonly ContainerBounds["held"][]): ContainerBounds["held"] {
  return HOLDS.findLast((one) => holds.includes(one));
}

function lowestOf(candidates: readonly [Ceiling, ...Ceiling[]]): Ceiling {
  return candidates.reduce((a, b) => b.ceiling < a.ceiling ? b : a);
}
