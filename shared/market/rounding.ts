/**
 * The 10 m grid of CPU limits: the smallest quota that the kubelet sets, and the step to which
 * systemd rounds one.
 *
 * @module
 */
import { GRID } from "../quantity.ts";

/** The value rounded up to the grid, but for what floating-point arithmetic adds. Millicores. */
export function upToGrid(millicores: number): number {
  return Math.ceil(millicores / GRID - 1e-9) * GRID;
}

/** The least and the most that a limit may be. Millicores. */
export interface LimitBounds {
  readonly floor: number;
  readonly ceiling: number;
}

/**
 * True where no whole step is left between a limit and its ceiling, millicores: a ceiling off the grid
 * is never reached whole. Whether a limit may move at all is another question (`limit < ceiling`).
 */
export function isAtCeiling(
  { limit, ceiling }: Pick<LimitBounds, "ceiling"> & { readonly limit: number },
): boolean {
  return limit > ceiling - GRID;
}

/**
 * Bounds on the grid: the floor rounded up, the ceiling down. Where that would put the ceiling under
 * the floor both stay as they are, and {@linkcode roundShares} gives the floor: 12 to 18 m stays,
 * 12 to 25 m becomes 20 to 20 m.
 */
export function roundBounds(bounds: LimitBounds): LimitBounds {
  const floor = Math.ceil(bounds.floor / GRID) * GRID;
  const ceiling = Math.floor(bounds.ceiling / GRID) * GRID;
  if (ceiling < floor) return { floor: bounds.floor, ceiling: bounds.ceiling };
  return { floor, ceiling };
}

/**
 * The shares of a clearing on the grid, and within `capacity`, millicores. Every share is rounded down,
 * then steps are handed out while the sum stays within the capacity, one a bidder at most: first to
 * those that rounding put under their floor, then by the largest remainder, the lower index first
 * among equals. So the sum of the result exceeds neither the capacity nor, by more than one step a
 * bidder, the shares; equal bidders end within one step; and bounds on the grid are kept.
 *
 * A floor off the grid is kept as far as the capacity reaches. A bidder with no multiple of the step
 * between its bounds gets its floor as it is. Shares below their floors, those of an overloaded
 * market, stay below. Shares must fit into the capacity; as many bounds as shares.
 */
export function roundShares(
  shares: ArrayLike<number>,
  bounds: readonly LimitBounds[],
  { capacity }: { readonly capacity: number },
): Float64Array {
  const rounded = new Float64Array(shares.length);
  const candidates: { index: number; remainder: number; underFloor: boolean }[] = [];
  let left = capacity;
  for (const [index, { floor, ceiling }] of bounds.entries()) {
    const share = shares[index] as number;
    const highest = Math.floor(ceiling / GRID) * GRID;
    const base = share >= floor && Math.ceil(floor / GRID) * GRID > highest
      ? floor
      : Math.min(Math.floor(share / GRID) * GRID, highest);
    rounded[index] = base;
    left -= base;
    if (share > base && base + GRID <= highest) {
      const underFloor = share >= floor && base < floor;
      candidates.push({ index, remainder: share - base, underFloor });
    }
  }
  candidates.sort((a, b) =>
    Number(b.underFloor) - Number(a.underFloor) || b.remainder - a.remainder || a.index - b.index
  );
  for (const { index } of candidates) {
    if (left < GRID) break;
    rounded[index] = (rounded[index] as number) + GRID;
    left -= GRID;
  }
  return rounded;
}
