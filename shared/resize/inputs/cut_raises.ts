/**
 * Raises cut to the room that there is.
 *
 * @module
 */
import type { ResourceName, Resources } from "../../api/pod.ts";
import { pair, pairsOf, wantedOf, type WantedResources } from "./resources.ts";

/**
 * The wanted values with each raise above its base cut by the same share, rounded down, so that the sum
 * falls by `excess`, or to the bases at most. A partial raise is better than a refused one.
 */
export function cutRaises(
  wanted: WantedResources,
  { resource, side, excess, base, step = 1, among }: {
    readonly resource: ResourceName;
    readonly side: keyof Resources;
    readonly excess: number;
    /** The part of a container's value that is not cut. */
    readonly base: (container: string) => number;
    /** Raises are cut to a multiple of this. @default {1} */
    readonly step?: number | undefined;
    /** Cuts these containers only. @default {all} */
    readonly among?: readonly { readonly name: string }[];
  },
): WantedResources {
  const raiseOf = (container: string): number =>
    among !== undefined && !among.some(({ name }) => name === container)
      ? 0
      : Math.max(0, (wanted.get(container)?.[side][resource] ?? 0) - base(container));
  const raises = [...wanted.keys()].reduce((sum, container) => sum + raiseOf(container), 0);
  if (excess <= 0 || raises === 0) return wanted;
  const share = Math.max(0, raises - excess) / raises;
  return wantedOf(
    pairsOf(wanted).map((entry) => {
      const raise = raiseOf(entry.container);
      if (entry.resource !== resource || raise === 0) return entry;
      const value = base(entry.container) + Math.floor(raise * share / step) * step;
      const { request, limit } = entry.pair;
      const cut = side === "requests" ? pair(value, limit) : pair(request, value);
      return { ...entry, pair: cut };
    }),
  );
}
