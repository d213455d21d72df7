/**
 * Raises cut to the room that there is.
 *
 * @module
 */
import type { Pod } from "../api/pod.ts";
import { GRID } from "../market/rounding.ts";
import type { WantedLimits } from "./check.ts";

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
