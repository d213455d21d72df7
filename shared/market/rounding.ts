/**
 * The 10 m grid of CPU limits: the smallest quota that the kubelet sets, and the step to which
 * systemd rounds one.
 *
 * @module
 */
import { GRID } from "../quantity.ts";

/** The value rounded up to the grid, with a tolerance for floating-point errors. Millicores. */
export function upToGrid(millicores: number): number {
  return Math.ceil(millicores / GRID - 1e-9) * GRID;
}

/** The bounds of a limit. Millicores. */
export interface LimitBounds {
  readonly floor: number;
  readonly ceiling: number;
}

/** True where less than a step is left between a limit and its ceiling, which may be off the grid. */
export function isAtCeiling(
  { limit, ceiling }: Pick<LimitBounds, "ceiling"> & { readonly limit: number },
): boolean {
  return limit > ceiling - GRID;
}

/**
 * Bounds on the grid: the floor rounded up, the ceiling down. If the ceiling were then below the floor,
 * both stay, and {@linkcode roundShares} gives the floor. Worked: 12 to 25 m becomes 20 to 20 m, 12 to
 * 18 m stays.
 */
export function roundBounds(bounds: LimitBounds): LimitBounds {
  const floor = Math.ceil(bounds.floor / GRID) * GRID;
  const ceiling = Math.floor(bounds.ceiling / GRID) * GRID;
  if (ceiling < floor) return { floor: bounds.floor, ceiling: bounds.ceiling };
  return { floor, ceiling };
}

/**
 * The shares of a clearing on the grid, within `capacity`, millicores; as many bounds as shares, which
 * must fit into the capacity. Every share is rounded down. Then bidders get one step each while the sum
 * fits: first those that rounding put below their floor, then by the largest remainder, then by index.
 * So the sum exceeds the shares by at most a step for each bidder, equal bidders differ by at most one
 * step, and bounds on the grid hold.
 *
 * A floor off the grid holds as far as the capacity allows. A bidder with no multiple of the step between
 * its bounds gets its floor. Shares below their floors, in an overloaded market, stay below.
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
