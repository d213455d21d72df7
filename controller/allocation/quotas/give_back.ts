/**
 * Quota that raises have taken and new pods need: who gives back how much of it.
 *
 * @module
 */
import { GRID } from "../../../shared/market/rounding.ts";

/** Who has raises that may be taken back, and what is to come of them. Millicores. */
export interface Raises {
  readonly missing: number;
  /** The pod's own. */
  readonly own: number;
  /** Those of all pods that the quota counts. */
  readonly all: number;
}

/**
 * What the pod gives back of what is missing: in proportion to the raises, up to the next step of
 * 10 m, and never more than its own raise. All parts together are at least what is missing, or all
 * raises: 40 m missing, raises of 100 and 50 m: 30 and 20 m.
 */
export function giveBack({ missing, own, all }: Raises): number {
  if (own === 0 || missing <= 0) return 0;
  return Math.min(own, Math.ceil(missing * own / all / GRID - 1e-9) * GRID);
}
