/**
 * The cost of requests, by prices that the user gives.
 *
 * @module
 */

/** A price table. */
export interface Prices {
  /** Price of one requested core for an hour. */
  readonly coreHour: number;
  /** Price of one requested GiB of memory for an hour. */
  readonly gibHour: number;
  /** For instance `EUR`; may be empty. */
  readonly currency: string;
}

/** Hours of a month: 365 × 24 / 12. */
export const MONTH_HOURS = 730;

/** Cost of requests of these millicores and bytes for an hour. */
export function pricePerHour(
  { cpu, memory }: { readonly cpu: number; readonly memory: number },
  { coreHour, gibHour }: Prices,
): number {
  return cpu / 1000 * coreHour + memory / 2 ** 30 * gibHour;
}
