/**
 * The controller's half of the bids: floor, ceiling and weight of each container that has a CPU limit.
 *
 * @module
 */
import { classWith } from "../../../shared/resize/checks/qos_class.ts";
import { movesRequest } from "../../../shared/resize/inputs/qos.ts";
import { limitsWanted, marketSubject } from "../../../shared/resize/inputs/subject.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import {
  type Bounds,
  type ContainerBounds,
  MOST_RULES,
} from "../../../shared/api/pod_allocation.ts";
import { type BoundReason, type Hold, holdOf } from "../../../shared/api/reasons/bound_reasons.ts";
import { LEAST_CPU } from "../../../shared/market/clearing_round.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";
import { sumCPU } from "../../../shared/quantity.ts";
import type { MarketConfig } from "../../config.ts";
import { metricWarnings } from "../../metrics_demand/metric_answer.ts";
import { type BidEffect, bidEffects, type BidInput, isSystemCritical } from "./bid_rules.ts";
import {
  type BoundedContainer,
  type Ceiling,
  type NamespaceBound,
  namespaceBounds,
  type NamespaceInput,
} from "./namespace_bounds.ts";
import { type Overrides, overridesOf, scaledCPU } from "./overrides.ts";
import { MAX_CPU, PRIORITY_MULTIPLIER } from "../../../shared/api/market_keys.ts";
import { atOriginalRequests } from "../original_limits.ts";
import type { AnnotationWarning } from "../ports.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

/** Input of the bounds. */
export interface BoundsInput extends Omit<BidInput, "startupBoost">, Omit<NamespaceInput, "pod"> {
  readonly config: Pick<MarketConfig, "burstFactor" | "leastCeiling" | "priorityMultipliers">;
  /** The original limits, millicores by container name. */
  readonly originalLimits: ReadonlyMap<string, number>;
  /**
   * The original requests, millicores by container name, where the market moves those in the spec.
   *
   * @default {those in the spec}
   */
  readonly ownRequests?: ReadonlyMap<string, number>;
}

/** A rule that set a bound, with a reason of this version. */
export interface KnownRule {
  readonly reason: BoundReason;
  /** In a sentence, with its numbers. */
  readonly message: string;
}

/** Bounds without their revision. */
export interface BoundsDraft extends Omit<Bounds, "revision"> {
  readonly rules: KnownRule[];
  /** Annotations that don't count, and why. */
  readonly warnings: readonly AnnotationWarning[];
  /** Time of the next change without an event, ms since 1970; absent: they change by events only. */
  readonly untilMs?: number;
}

/** Floor of a container, or its original limit if that is less. Millicores. */
const LEAST_LIMIT = 100;
/** One container may have at most this share of a node. */
const NODE_SHARE = 0.9;

/** A container that has a limit and runs. */
interface Participant extends BoundedContainer {
  readonly containerID: string;
}

/** The input that all containers of a pod share. */
interface PodBasis extends Pick<BoundsInput, "node"> {
  readonly pod: Pod;
  /** The result of `qosKeeper()`. */
  readonly keeper: string | undefined | null;
  readonly multiplier: number;
  readonly effects: readonly BidEffect[];
}

/** The bounds of a pod as the API's state has them now. */
export function boundsOf(input: BoundsInput): BoundsDraft {
  const { originalLimits, config, namespace, quota, nowMs } = input;
  const pod = atOriginalRequests(input.pod, input.ownRequests ?? new Map());
  const participants = participantsOf(pod, originalLimits);
  const overrides = overridesOf({
    pod,
    namespace,
    config,
    originalLimits: participants.map(({ originalLimit }) => originalLimit),
  });
  const effects = bidEffects({ ...input, pod, startupBoost: overrides.startupBoost });
  const allowed = allowedCeilings(participants, { overrides, effects });
  const byNamespace = namespaceBounds(participants, { ...input, pod });
  const multiplier = overrides.priorityMultiplier ??
    priorityMultiplier(pod.priority, config.priorityMultipliers);
  const keeper = qosKeeper(pod, originalLimits);
  const basis = { pod, node: input.node, keeper, multiplier, effects };
  const bounds = participants.map((participant, index) =>
    boundsOfContainer(participant, {
      basis,
      allowed: allowed[index] as Ceiling,
      namespaceBound: byNamespace[index] as NamespaceBound,
    })
  );
  const rules = [
    ...effects.map(({ reason, message }) => ({ reason, message })),
    ...weightRule(multiplier, { pod, overrides }),
    ...bounds.flatMap((one) => one.rules),
  ];
  const ends = effects.flatMap(({ untilMs }) => untilMs ?? []);
  if (quota?.againMs !== undefined) ends.push(nowMs + quota.againMs);
  const metric = metricWarnings(input.metric).map((message) => ({ message }));
  return {
    reason: [...new Set(rules.map(({ reason }) => reason))].join(", "),
    // A pod with many containers may have more rules than fit; `reason` has the reasons of all.
    rules: [...new Map(rules.map((rule) => [`${rule.reason} ${rule.message}`, rule])).values()]
      .slice(0, MOST_RULES),
    containers: bounds.map(({ container }) => container),
    warnings: [...overrides.warnings, ...metric],
    ...(ends.length === 0 ? {} : { untilMs: Math.min(...ends) }),
  };
}

function participantsOf(
  { containers }: Pod,
  originalLimits: ReadonlyMap<string, number>,
): readonly Participant[] {
  return containers.flatMap((container): Participant[] => {
    const { name, containerID, limits } = container;
    const originalLimit = originalLimits.get(name);
    if (originalLimit === undefined || containerID === undefined || limits.cpu === undefined) {
      return [];
    }
    return [{ container, containerID, originalLimit }];
  });
}

/** The ceilings by burst factor, annotation and startup boost. */
function allowedCeilings(
  participants: readonly Participant[],
  { overrides, effects }: {
    readonly overrides: Overrides;
    readonly effects: readonly BidEffect[];
  },
): readonly Ceiling[] {
  const { maxCPU, burstFactor, burstCeilings } = overrides;
  const factor = Math.max(1, ...effects.map((effect) => effect.boost ?? 1));
  const parts = maxCPU === undefined || participants.length === 0
    ? []
    : splitByRequest(maxCPU, participants.map(({ container }) => container.requests.cpu ?? 0));
  // The annotation replaces the burst factor's ceilings if its value is above their sum; otherwise the
  // lower of the two counts for each container.
  const raises = maxCPU !== undefined && maxCPU > sumCPU(burstCeilings);
  return participants.map(({ originalLimit }, index): Ceiling => {
    const usual = burstCeilings[index] ?? 0;
    const source = usual > scaledCPU(originalLimit, burstFactor)
      ? `the least ceiling × ${factor}`
      : `original limit × ${burstFactor * factor}`;
    const burst: Ceiling = { ceiling: scaledCPU(usual, factor), reason: "BurstFactor", source };
    const part = parts[index];
    if (part === undefined) return burst;
    const annotated: Ceiling = {
      ceiling: scaledCPU(part, factor),
      reason: "MaxCPU",
      source: MAX_CPU,
    };
    return raises || annotated.ceiling < burst.ceiling ? annotated : burst;
  });
}

/**
 * The bounds of one container, and the rules that set them.
 *
 * Where a quota needs raises back, the hold `lower` is replaced by a floor at the lowered limit, so that
 * neither the agent nor the check of its limits needs an exception.
 */
function boundsOfContainer(
  { container, containerID, originalLimit }: Participant,
  { basis: { pod, node, keeper, multiplier, effects }, allowed, namespaceBound }: {
    readonly basis: PodBasis;
    readonly allowed: Ceiling;
    readonly namespaceBound: NamespaceBound;
  },
): { readonly container: ContainerBounds; readonly rules: readonly KnownRule[] } {
  const { name, requests: { cpu: request = 0 }, restartsOnCPU } = container;
  const spare = name === keeper ? LEAST_CPU : 0;
  const leastLimit = Math.min(LEAST_LIMIT, originalLimit);
  const floor = Math.max(request + spare, leastLimit, LEAST_CPU, namespaceBound.floor);
  const lowestCeiling = [
    allowed,
    {
      ceiling: node === undefined ? Infinity : Math.floor(node.allocatableCPU * NODE_SHARE),
      reason: "NodeSize" as const,
      source: "90 % of the node",
    },
    {
      ceiling: pod.podLevel?.limits.cpu ?? Infinity,
      reason: "PodLevelLimit" as const,
      source: "the limit of the pod as a whole",
    },
    ...namespaceBound.ceilings,
  ].reduce((a, b) => b.ceiling < a.ceiling ? b : a);
  const ceiling = Math.max(floor, lowestCeiling.ceiling);
  const applying = effects.filter((effect) => (effect.container ?? name) === name);
  const effectFloor = Math.max(0, ...applying.map((effect) => effect.floor ?? 0));
  const demand = Math.max(0, ...applying.map((effect) => effect.demand ?? 0));
  const rules = [ceilingRule(name, { floor, lowestCeiling })];
  if (effectFloor > ceiling) {
    const message =
      `${name} can't have the ${effectFloor}m that the HPA's signal needs: its ceiling is ` +
      `${ceiling}m`;
    rules.push({ reason: "HPACapped", message });
  }
  if (keeper === null) {
    const message = "with lower limits the pod would be Guaranteed, which the API refuses";
    rules.push({ reason: "QoSWouldChange", message });
  }
  if (restartsOnCPU) {
    const message = `resizePolicy restarts ${name} on a CPU change`;
    rules.push({ reason: "RestartPolicy", message });
  }
  const held = strictest([...applying, ...rules].map(({ reason }) => holdOf(reason)));
  const { loweredLimit } = namespaceBound;
  const yields = held === "lower" && loweredLimit !== undefined && !isSystemCritical(pod);
  const lowered = yields ? Math.max(floor, loweredLimit) : 0;
  return {
    rules,
    container: {
      name,
      containerID,
      floor: Math.max(floor, Math.min(effectFloor, ceiling), lowered),
      ceiling: Math.max(ceiling, lowered),
      weight: Math.max(1, request) * multiplier,
      ...(multiplier === 1 ? {} : { multiplier }),
      ...(held === undefined || yields ? {} : { held }),
      ...(applying.some(({ boost }) => boost !== undefined) ? { boost: true } : {}),
      ...(demand > 0 ? { demand } : {}),
      ...(movesRequest(pod) ? { requestMoves: true as const } : {}),
    },
  };
}

/** The rule of the lowest ceiling, or of the floor where that is higher. */
function ceilingRule(
  name: string,
  { floor, lowestCeiling: { ceiling, reason, source } }: {
    readonly floor: number;
    readonly lowestCeiling: Ceiling;
  },
): KnownRule {
  if (ceiling >= floor) return { reason, message: `${name} at most ${ceiling}m: ${source}` };
  const message = `${name} stays at its floor, ${floor}m: ${source} would be ${ceiling}m`;
  return { reason: "FloorBinds", message };
}

function weightRule(
  multiplier: number,
  { pod: { priority, priorityClassName }, overrides }: {
    readonly pod: Pick<Pod, "priority" | "priorityClassName">;
    readonly overrides: Pick<Overrides, "priorityMultiplier">;
  },
): readonly KnownRule[] {
  if (multiplier === 1) return [];
  const ofClass = priorityClassName === undefined ? "" : ` (class ${priorityClassName})`;
  const by = overrides.priorityMultiplier === undefined
    ? `priority ${priority}${ofClass}`
    : `annotation ${PRIORITY_MULTIPLIER}`;
  return [{ reason: "WeightMultiplied", message: `weight × ${multiplier.toFixed(2)}: ${by}` }];
}

/** The strictest of the holds; undefined without any. */
function strictest(holds: readonly (Hold | undefined)[]): Hold | undefined {
  return (["half", "lower", "both"] as const).findLast((one) => holds.includes(one));
}

/**
 * Where all containers have memory request = limit and CPU limits, the market could make request =
 * limit everywhere, and the pod would turn Guaranteed, which the API refuses. So the limit of one
 * container with an original limit above its request stays above it. Returns that container's name;
 * undefined where the class can't change so, as in a Guaranteed pod; null when no container is fit.
 */
function qosKeeper(
  pod: Pod,
  originalLimits: ReadonlyMap<string, number>,
): string | undefined | null {
  const requests = new Map(
    pod.containers.filter(({ name }) => originalLimits.has(name))
      .map(({ name, requests: { cpu = 0 } }) => [name, cpu]),
  );
  const lowest = classWith(marketSubject(pod), limitsWanted(pod, requests));
  if (pod.qosClass === "Guaranteed" || lowest !== "Guaranteed") return undefined;
  for (const [name, cpu] of requests) {
    if ((originalLimits.get(name) ?? 0) >= cpu + LEAST_CPU) return name;
  }
  return null;
}
