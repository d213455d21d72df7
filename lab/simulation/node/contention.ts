/**
 * The speed of each thread when there are more runnable threads than cores: weighted max-min shares,
 * the fluid limit of CFS and EEVDF.
 *
 * @module
 */

/** Reads `values[index]` for an index known to be inside. */
function valueAt(values: Float64Array, index: number): number {
  return values[index] ?? 0;
}

/** Claims on one capacity; the first `count` entries of each array are used. */
export interface Claims {
  count: number;
  /** Most that each can use, at least 0. */
  readonly wanted: Float64Array;
  /** Above 0. */
  readonly weights: Float64Array;
  /** The result of the last division. */
  readonly given: Float64Array;
}

/** Room for `size` claims. */
export function createClaims(size: number): Claims {
  return {
    count: 0,
    wanted: new Float64Array(size),
    weights: new Float64Array(size),
    given: new Float64Array(size),
  };
}

/**
 * Divides `capacity` over the claims into `claims.given`: no claim gets more than it wants, and one
 * that gets less has a share per weight no smaller than that of any other. Progressive filling: those
 * with a want that lies below their fair share get it, the rest is divided anew. At most `count`
 * rounds, two or three in practice.
 */
export function shareByWeight(claims: Claims, capacity: number): void {
  const { count, wanted, weights, given } = claims;
  let left = capacity;
  let openWeight = 0;
  for (let index = 0; index < count; index++) {
    given[index] = -1;
    openWeight += valueAt(weights, index);
  }
  for (let settled = true; settled;) {
    settled = false;
    const perWeight = openWeight > 0 ? Math.max(0, left) / openWeight : 0;
    for (let index = 0; index < count; index++) {
      const want = valueAt(wanted, index);
      if (valueAt(given, index) >= 0 || want > perWeight * valueAt(weights, index)) continue;
      given[index] = want;
      left -= want;
      openWeight -= valueAt(weights, index);
      settled = true;
    }
    if (settled) continue;
    for (let index = 0; index < count; index++) {
      if (valueAt(given, index) < 0) given[index] = perWeight * valueAt(weights, index);
    }
  }
}
