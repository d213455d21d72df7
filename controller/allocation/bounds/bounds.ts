/**
 * The API's half of the bids: floor, ceiling and weight of each container that has a CPU limit.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { Bounds, ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import { LEAST_CPU } from "../../../shared/market/bids.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import type { ResourceRanges } from "../../../shared/resize/inputs/ranges.ts";
import { metricWarnings } from "../../metrics_demand/metric_fact.ts";
import type { BidFacts, BidWord } from "../bid_rules/bid_rule.ts";
import { isSystemCritical } from "../bid_rules/system_critical.ts";
import { atOriginalRequests } from "../limits/original_limits.ts";
import type { WordWarning } from "../news/word_warning.ts";
import { type BoundWord, createBoundWords } from "./bound_words.ts";
import { type Ceiling, namespaceBounds, type QuotaBounds } from "./namespace_bounds.ts";
import { type Overrides, PRIORITY_MULTIPLIER } from "./overrides.ts";
import { qosKeeper } from "./qos_keeper.ts";
import { seatsOf } from "./seats.ts";

/** What bounds are made from. */
export interface BoundsInput extends BidFacts {
  /** The user's own limits, millicores by container name. */
  readonly ownLimits: ReadonlyMap<string, number>;
  readonly burstFactor: number;
  /** Least ceiling by it, where no namespace sets it, millicores. @default {0} */
  readonly leastCeiling?: number | undefined;
  /** Multiplier of the weight by `spec.priority`. */
  readonly priorityMultiplier: (priority: number) => number;
  /** What the namespace's LimitRanges say of CPU; absent when nothing. */
  readonly limitRange?: ResourceRanges | undefined;
  /** What its quotas allow the pod; absent when none counts it. */
  readonly quota?: QuotaBounds | undefined;
  /**
   * The user's own requests, millicores by container name, where the market moves those in the spec.
   *
   * @default {those in the spec}
   */
  readonly ownRequests?: ReadonlyMap<string, number>;
  /** What the requests on its node allow the pod as its total; absent where its requests stay. */
  readonly nodeCeiling?: number | undefined;
}

/** Every pod may keep this much, or its own limit if that is less. Millicores. */
const LEAST_LIMIT = 100;
/** One container may have at most this share of a node. */
const NODE_SHARE = 0.9;

/** Bounds without their revision. */
export interface BoundsDraft extends Omit<Bounds, "revision"> {
  readonly rules: BoundWord[];
  /** Annotations that don't count, and why. */
  readonly warnings: readonly WordWarning[];
  /** When they will be others without an event, ms since 1970; absent: when something changes. */
  readonly untilMs?: number;
}

/**
 * The bounds of a pod as the API's state has them now.
 *
 * Where a quota needs raises back, a hold from below stands as a floor, at what is left after that: the
 * agent and the check of its values then need no exception, and neither can take more.
 */
export function boundsOf(input: BoundsInput): BoundsDraft {
  const { node, ownLimits } = input;
  const pod = atOriginalRequests(input.pod, input.ownRequests ?? new Map());
  const { seats, overrides, words } = seatsOf({ ...input, pod });
  const theirs = namespaceBounds(seats, { ...input, pod, limitRange: input.limitRange?.cpu });
  const multiplier = overrides.priorityMultiplier ?? input.priorityMultiplier(pod.priority);
  const keeper = qosKeeper({ pod, ownLimits });
  const moves = movesRequest(pod);
  const told = createBoundWords();
  for (const word of words) told.add(word);
  if (multiplier !== 1) told.add(weightMultiplied(multiplier, { pod, overrides }));
  const containers = seats.map((seat, index): ContainerBounds => {
    const { container: { name, requestCPU = 0, restartsOnCPU }, containerID, own, allowed } = seat;
    const spare = name === keeper ? LEAST_CPU : 0;
    const { floor: least = 0, ceilings = [], backTo } = theirs[index] ?? {};
    const said = words.filter(({ container = name }) => container === name);
    const floor = Math.max(requestCPU + spare, Math.min(LEAST_LIMIT, own), LEAST_CPU, least);
    const lowest = lowestOf([
      allowed,
      {
        ceiling: node === undefined ? Infinity : Math.floor(node.allocatableCPU * NODE_SHARE),
        reason: "NodeSize",
        source: "90 % of the node",
      },
      {
        ceiling: pod.podLevel?.limitCPU ?? Infinity,
        reason: "PodLevelLimit",
        source: "the limit of the pod as a whole",
      },
      ...ceilings,
    ]);
    const ceiling = Math.max(floor, lowest.ceiling);
    told.ceiling(name, { floor, lowest });
    const wanted = Math.max(0, ...said.map((word) => word.floor ?? 0));
    if (wanted > ceiling) told.capped(name, { wanted, ceiling });
    const held = strongest([
      ...said.map((word) => word.held),
      ...(keeper === null || restartsOnCPU ? ["both"] as const : []),
    ]);
    if (keeper === null) told.add(QOS_WOULD_CHANGE);
    if (restartsOnCPU) told.add(restartPolicy(name));
    // Own limits are never undercut for it, so that only raises go.
    const yields = held === "lower" && backTo !== undefined && !isSystemCritical(pod);
    const kept = yields ? Math.max(floor, backTo) : 0;
    const boosted = said.some(({ boost }) => boost !== undefined);
    const demand = Math.max(0, ...said.map((word) => word.demand ?? 0));
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
  const ends = [...words.flatMap(({ untilMs }) => untilMs ?? []), ...quotaEnds];
  return {
    ...told.words(),
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
): BoundWord {
  const ofClass = priorityClassName === undefined ? "" : ` (class ${priorityClassName})`;
  const by = overrides.priorityMultiplier === undefined
    ? `priority ${priority}${ofClass}`
    : `annotation ${PRIORITY_MULTIPLIER}`;
  return { reason: "WeightMultiplied", message: `weight × ${multiplier.toFixed(2)}: ${by}` };
}

function restartPolicy(name: string): Pick<BidWord, "reason" | "message"> {
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
