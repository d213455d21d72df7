/**
 * Raises cut to the room that there is.
 *
 * @module
 */
import type { Pod, ResourceName } from "../api/pod.ts";
import { GRID } from "../market/rounding.ts";
import type { WantedLimits } from "./check.ts";
import {
  formatAmount,
  pair,
  PAIR_SIDES,
  type PairSide,
  pairsOf,
  wantedOf,
  type WantedResources,
} from "./resources.ts";

/** How far wanted limits are from those in the pod's spec. Millicores. */
export interface PodChange {
  /** Σ of raises less Σ of decreases. */
  readonly net: number;
  /** Σ of raises. */
  readonly raises: number;
}

function raiseOf(pod: Pod, name: string, limit: number): number {
  const container = pod.containers.find((one) => one.name === name);
  return container === undefined ? 0 : limit - (container.limitCPU ?? 0);
}

/** What the wanted limits change of the pod. */
export function changeOf(pod: Pod, limits: WantedLimits): PodChange {
  let net = 0;
  let raises = 0;
  for (const [name, limit] of limits) {
    const raise = raiseOf(pod, name, limit);
    net += raise;
    raises += Math.max(0, raise);
  }
  return { net, raises };
}

/**
 * The wanted limits with each raise cut by the same share, rounded down to 10 m, so that the pod's
 * total grows by no more than `room` (below 0 counts as 0). Decreases stay as they are; a partial
 * raise is better than a refused one.
 */
export function cutRaises(
  pod: Pod,
  limits: WantedLimits,
  { room }: { readonly room: number },
): Map<string, number> {
  const { net, raises } = changeOf(pod, limits);
  const excess = net - Math.max(0, room);
  if (excess <= 0 || raises === 0) return new Map(limits);
  const allowed = Math.max(0, raises - excess) / raises;
  return new Map([...limits].map(([name, limit]) => {
    const raise = raiseOf(pod, name, limit);
    const cut = raise > 0 ? limit - raise + Math.floor(raise * allowed / GRID) * GRID : limit;
    return [name, cut];
  }));
}

/** Which values are cut, and by how much. */
export interface Cut {
  readonly resource: ResourceName;
  readonly side: PairSide;
  /** By how much the sum of the values is to fall. */
  readonly excess: number;
  /** By container: no value is cut below this. */
  readonly base: (container: string) => number;
}

/**
 * The wanted values with each raise above its base cut by the same share, rounded down, so that their
 * sum falls by `excess`, or as far as the raises go. Others stay as they are: a partial raise is better
 * than a refused one.
 */
export function cutValues(
  wanted: WantedResources,
  { resource, side, excess, base }: Cut,
): WantedResources {
  const raiseOf = (container: string, value: number | undefined): number =>
    value === undefined ? 0 : Math.max(0, value - base(container));
  const raises = pairsOf(wanted).reduce(
    (sum, one) => one.resource === resource ? sum + raiseOf(one.container, one.pair[side]) : sum,
    0,
  );
  if (excess <= 0 || raises === 0) return wanted;
  const share = Math.max(0, raises - excess) / raises;
  return wantedOf(
    pairsOf(wanted).map((entry) => {
      const raise = raiseOf(entry.container, entry.pair[side]);
      if (entry.resource !== resource || raise === 0) return entry;
      const value = base(entry.container) + Math.floor(raise * share);
      const { request, limit } = entry.pair;
      const cut = side === "request" ? pair(value, limit) : pair(request, value);
      return { ...entry, pair: cut };
    }),
  );
}

/** What differs between two states of the same wish, in words: `app cpu request 300m to 250m`. */
export function describeCut(
  before: WantedResources,
  after: WantedResources,
): string {
  return pairsOf(before).flatMap(({ container, resource, pair: old }) =>
    PAIR_SIDES.flatMap((side) => {
      const was = old[side];
      const is = after.get(container)?.[resource]?.[side];
      if (was === undefined || was === is) return [];
      const to = is === undefined ? "left as it is" : `to ${formatAmount(resource, is)}`;
      return [`${container} ${resource} ${side} ${formatAmount(resource, was)} ${to}`];
    })
  ).join(", ");
}
