/**
 * How much CPU of a node the market may share.
 *
 * @module
 */

/** What the capacity is made from. Millicores. */
export interface CapacityInput {
  /** The node's allocatable CPU. */
  readonly allocatable: number;
  /** Held by pods that take no part. */
  readonly unmanaged: number;
  /** Number of pressure conditions on the node (memory, disk, PIDs). */
  readonly pressures: number;
  /** Share of allocatable that is never shared out. @default {0.1} */
  readonly reserve?: number;
}

/** Each pressure condition takes a tenth; they multiply. */
const PRESSURE_FACTOR = 0.9;

/**
 * allocatable × (1 − reserve) × 0.9^pressures − unmanaged, at least 0. 8000 m with 500 m unmanaged
 * and no pressure: 6700 m.
 */
export function marketCapacity(input: CapacityInput): number {
  const { allocatable, unmanaged, pressures, reserve = 0.1 } = input;
  return Math.max(0, allocatable * (1 - reserve) * PRESSURE_FACTOR ** pressures - unmanaged);
}
