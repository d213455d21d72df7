/**
 * What a namespace's LimitRanges and quotas, and for Guaranteed pods the requests on the node, make of
 * each container's floor and ceiling.
 *
 * @module
 */
import {
  type CPURange,
  type CPURanges,
  largestLimit,
} from "../../../shared/actuation/cpu_range.ts";
import { movesRequest } from "../../../shared/actuation/moved_request.ts";
import { podPhases, podTotal, sumOf } from "../../../shared/actuation/pod_total.ts";
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { CeilingReason } from "../../../shared/api/reasons/ceiling_reasons.ts";
import { splitByRequest } from "../../../shared/market/pod_split.ts";

/** A bound from above and what it comes from. Millicores. */
export interface Ceiling {
  readonly ceiling: number;
  readonly reason: CeilingReason;
  /** What it comes from, in words. */
  readonly source: string;
}

/** What the namespace says of one container. Millicores. */
export interface NamespaceBound {
  readonly floor: number;
  readonly ceilings: readonly Ceiling[];
  /** What the container is to give back to: the quotas need its raise. Absent: nothing. */
  readonly backTo?: number;
}

/** A container that takes part. */
export interface BoundedSeat {
  readonly container: PodContainer;
  /** The user's own limit, millicores. */
  readonly own: number;
}

/** What the bounds come from. */
export interface NamespaceFacts {
  readonly pod: Pod;
  readonly limitRange?: CPURanges | undefined;
  /** What the quotas allow the pod as its total, millicores; undefined when they bind nothing. */
  readonly quotaCeiling?: number | undefined;
  /** Name of the quota that allows no more. */
  readonly quotaName?: string | undefined;
  /** What the requests on the node allow the pod as its total, millicores. @default {Infinity} */
  readonly nodeCeiling?: number | undefined;
}

/** The namespace's bounds, in the order of the seats. */
export function namespaceBounds(
  seats: readonly BoundedSeat[],
  { pod, limitRange, quotaCeiling = Infinity, quotaName, nodeCeiling = Infinity }: NamespaceFacts,
): readonly NamespaceBound[] {
  const seated = new Set(seats.map(({ container }) => container.name));
  const others = pod.containers.reduce(
    (sum, { name, limitCPU = 0 }) => seated.has(name) ? sum : sum + limitCPU,
    0,
  );
  const requests = seats.map(({ container }) => container.requestCPU ?? 0);
  const moves = movesRequest(pod);
  const byPod = partsOfPod(seats, { pod, range: limitRange?.pod });
  const present = { requests, bases: seats.map(({ container }) => container.limitCPU ?? 0) };
  const forQuota = quotaCeiling - others;
  const givesBack = forQuota < added(present.bases);
  const byQuota = givesBack ? leftOfRaises(forQuota, seats) : parts(forQuota, present);
  const byNode = parts(nodeCeiling - others, present);
  const podLeast = parts(limitRange?.pod.min ?? 0, { requests, bases: seats.map(() => 0) });
  return seats.map(({ container: { name, requestCPU = 0 } }, index) => ({
    floor: Math.max(limitRange?.container.min ?? 0, podLeast[index] ?? 0),
    ...backTo(givesBack ? byQuota[index] : undefined, present.bases[index]),
    ceilings: [
      {
        ceiling: limitRange === undefined
          ? Infinity
          : largestLimit(limitRange.container, requestCPU, { moves }),
        reason: "LimitRange",
        source: "the LimitRange of containers",
      },
      {
        ceiling: byPod.get(name) ?? Infinity,
        reason: "LimitRange",
        source: "the LimitRange of pods",
      },
      {
        ceiling: byQuota[index] ?? Infinity,
        reason: "QuotaExceeded",
        source: `what ${
          quotaName === undefined ? "the ResourceQuota" : `ResourceQuota ${quotaName}`
        } leaves`,
      },
      {
        ceiling: byNode[index] ?? Infinity,
        reason: "NodeCapacity",
        source: "what the requests on the node leave",
      },
    ],
  }));
}

function backTo(part = Infinity, limit = 0): Pick<NamespaceBound, "backTo"> {
  return part < limit ? { backTo: part } : {};
}

/**
 * What the LimitRange of pods leaves each container, by name: of the containers that run together, and
 * for sidecars also beside each init container that runs with them.
 */
function partsOfPod(
  seats: readonly BoundedSeat[],
  { pod, range }: { readonly pod: Pod; readonly range: CPURange | undefined },
): ReadonlyMap<string, number> {
  const least = new Map<string, number>();
  // What the pod says as a whole is what counts then, and no container's limit changes it.
  if (range === undefined || pod.podLevel?.limitCPU !== undefined) return least;
  const most = largestLimit(range, podTotal(pod, "requestCPU") ?? 0, { moves: movesRequest(pod) });
  const seated = new Set(seats.map(({ container }) => container.name));
  for (const phase of podPhases(pod)) {
    const names = new Set(phase.map(({ name }) => name));
    const theirs = seats.filter(({ container }) => names.has(container.name));
    const others = sumOf(phase.filter(({ name }) => !seated.has(name)), "limitCPU");
    const split = parts(most - others, {
      requests: theirs.map(({ container }) => container.requestCPU ?? 0),
      bases: theirs.map(({ own }) => own),
    });
    for (const [index, { container: { name } }] of theirs.entries()) {
      least.set(name, Math.min(least.get(name) ?? Infinity, split[index] ?? Infinity));
    }
  }
  return least;
}

function added(values: readonly number[]): number {
  return values.reduce((sum, one) => sum + one, 0);
}

/**
 * What is left to each container when all come down to `total`: each gives in proportion to its raise,
 * so that none gets what another gives. Where the raises are not enough the pod's own limits are
 * divided by request.
 */
function leftOfRaises(total: number, seats: readonly BoundedSeat[]): readonly number[] {
  const bases = seats.map(({ container }) => container.limitCPU ?? 0);
  const raises = seats.map(({ own }, index) => Math.max(0, (bases[index] ?? 0) - own));
  const owed = added(bases) - total;
  if (owed > added(raises)) {
    return parts(total, {
      requests: seats.map(({ container }) => container.requestCPU ?? 0),
      bases: bases.map((base, index) => base - (raises[index] ?? 0)),
    });
  }
  const given = splitByRequest(owed, raises);
  return bases.map((base, index) => base - (given[index] ?? 0));
}

interface Split {
  readonly requests: readonly number[];
  readonly bases: readonly number[];
}

/**
 * Splits what a pod may have: each container its base first and of the rest a part by request, or
 * all by request where the bases are too much. Nothing when there is no bound.
 */
function parts(total: number, { requests, bases }: Split): readonly number[] {
  if (total === Infinity || requests.length === 0) return [];
  const base = added(bases);
  if (base > total) return splitByRequest(Math.max(0, total), requests);
  return splitByRequest(total - base, requests).map((part, index) => part + (bases[index] ?? 0));
}
