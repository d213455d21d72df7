/**
 * The API's half of the bids: floor, ceiling and weight of each container that has a CPU limit.
 *
 * @module
 */
import type { CPURanges } from "../../shared/actuation/cpu_range.ts";
import { qosClassOf } from "../../shared/actuation/qos.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { Bounds, ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { LEAST_CPU } from "../../shared/market/bids.ts";
import { splitByRequest } from "../../shared/market/pod_split.ts";
import { type Ceiling, namespaceBounds } from "./namespace_bounds.ts";
import { MAX_CPU, type Overrides, overridesOf } from "./overrides.ts";
import { priorityMultiplier } from "./priority_multiplier.ts";

/** What bounds are made from. */
export interface BoundsInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  /** The user's own limits, millicores by container name. */
  readonly ownLimits: ReadonlyMap<string, number>;
  /** Allocatable CPU of the pod's node, millicores; absent while the node is not known. */
  readonly nodeCPU: number | undefined;
  readonly burstFactor: number;
  /** What the namespace's LimitRanges say of CPU; absent when nothing. */
  readonly limitRange?: CPURanges | undefined;
  /** What its quotas allow the pod as its total, millicores; absent when they bind nothing. */
  readonly quotaCeiling?: number | undefined;
}

/** Every pod may keep this much, or its own limit if that is less. Millicores. */
const LEAST_LIMIT = 100;
/** One container may have at most this share of a node. */
const NODE_SHARE = 0.9;

/** Bounds without their revision. */
export interface BoundsDraft extends Omit<Bounds, "revision"> {
  /** Annotations that don't count, and why. */
  readonly warnings: readonly string[];
}

/** A container that has a limit and runs. */
interface Seat {
  readonly container: PodContainer;
  readonly containerID: string;
  readonly own: number;
  /** What annotations and burst factor allow. */
  readonly allowed: Ceiling;
}

/** The bounds of a pod as the API's state has them now. */
export function boundsOf(input: BoundsInput): BoundsDraft {
  const { pod, nodeCPU = Infinity, limitRange, quotaCeiling } = input;
  const { seats, overrides } = seatsOf(input);
  const theirs = namespaceBounds(seats, { pod, limitRange, quotaCeiling });
  const multiplier = overrides.priorityMultiplier ?? priorityMultiplier(pod.priority);
  const keeper = qosKeeper(input);
  const reasons = new Set<string>();
  const containers = seats.map((seat, index): ContainerBounds => {
    const { container, containerID, own, allowed } = seat;
    const { name, requestCPU = 0, restartsOnCPU } = container;
    const spare = name === keeper ? LEAST_CPU : 0;
    const { floor: least = 0, ceilings = [] } = theirs[index] ?? {};
    const floor = Math.max(requestCPU + spare, Math.min(LEAST_LIMIT, own), LEAST_CPU, least);
    const { ceiling, reason } = ceilingOf(floor, [
      allowed,
      { ceiling: Math.floor(nodeCPU * NODE_SHARE), reason: "90 % of the node" },
      ...ceilings,
    ]);
    reasons.add(reason);
    const weight = Math.max(1, requestCPU) * multiplier;
    const bounds = { name, containerID, floor, ceiling, weight };
    if (keeper !== null && !restartsOnCPU) return bounds;
    reasons.add(keeper === null ? "QoSWouldChange" : "ResizeUnsupported");
    return { ...bounds, held: "both" };
  });
  return { reason: [...reasons].join(", "), containers, warnings: overrides.warnings };
}

function seatsOf(input: BoundsInput): { seats: readonly Seat[]; overrides: Overrides } {
  const { pod, namespace, ownLimits, burstFactor: usualFactor } = input;
  const bare = pod.containers.flatMap((container): Omit<Seat, "allowed">[] => {
    const own = ownLimits.get(container.name);
    const { containerID, limitCPU } = container;
    if (own === undefined || containerID === undefined || limitCPU === undefined) return [];
    return [{ container, containerID, own }];
  });
  const ownLimit = bare.reduce((sum, { own }) => sum + own, 0);
  const overrides = overridesOf({ pod, namespace, ownLimit, burstFactor: usualFactor });
  const { maxCPU, burstFactor } = overrides;
  const parts = maxCPU === undefined || bare.length === 0
    ? []
    : splitByRequest(maxCPU, bare.map(({ container }) => container.requestCPU ?? 0));
  // Where the annotation asks for more it stands instead of the burst factor, otherwise beside it.
  const raises = maxCPU !== undefined && maxCPU > ownLimit * burstFactor;
  const seats = bare.map((seat, index) => {
    const burst = {
      ceiling: Math.min(Math.floor(seat.own * burstFactor), Number.MAX_SAFE_INTEGER),
      reason: `own limit × ${burstFactor}`,
    };
    const part = parts[index];
    const asked = part === undefined ? undefined : { ceiling: part, reason: MAX_CPU };
    const allowed = asked !== undefined && (raises || asked.ceiling < burst.ceiling)
      ? asked
      : burst;
    return { ...seat, allowed };
  });
  return { seats, overrides };
}

/** The lowest of the ceilings, and which one it was; never below the floor. */
function ceilingOf(floor: number, candidates: readonly [Ceiling, ...Ceiling[]]): Ceiling {
  const lowest = candidates.reduce((a, b) => b.ceiling < a.ceiling ? b : a);
  return lowest.ceiling >= floor
    ? lowest
    : { ceiling: floor, reason: `floor (${lowest.reason} would be lower)` };
}

/**
 * Where all containers have memory request = limit and CPU limits, the market could make request =
 * limit everywhere, and the pod would turn Guaranteed, which the API refuses. One container whose
 * own limit allows it then keeps its limit above its request. Returns its name, undefined when
 * there is no such danger, null when no container can do it.
 */
function qosKeeper({ pod, ownLimits }: BoundsInput): string | undefined | null {
  const all = [...pod.containers, ...pod.initContainers];
  const atRequest = all.map((container) => ({ ...container, limitCPU: container.requestCPU ?? 0 }));
  const lowered = atRequest.map((container, index) =>
    ownLimits.has(container.name) ? container : all[index] ?? container
  );
  if (qosClassOf(lowered) !== "Guaranteed") return undefined;
  const able = pod.containers.find(({ name, requestCPU = 0 }) =>
    (ownLimits.get(name) ?? 0) >= requestCPU + LEAST_CPU
  );
  return able?.name ?? null;
}
