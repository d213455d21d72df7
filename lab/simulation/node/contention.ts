/**
 * The weight that a CPU request becomes, and the speed of each thread by it when there are more runnable
 * threads than cores: weighted max-min shares, the fluid limit of CFS and EEVDF.
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

const MIN_SHARES = 2;
const MAX_SHARES = 262_144;

/**
 * `cpu.weight`, 1 to 10,000, of a request in millicores. The kubelet turns the request into shares,
 * m × 1024 / 1000, at least 2; the runtime maps [2, 262144] linearly to [1, 10000]
 * (https://github.com/kubernetes/enhancements/tree/master/keps/sig-node/2254-cgroup-v2). Worked
 * values: 0 m → 1, 100 m → 4, 1000 m → 39, 4000 m → 157.
 */
export function cpuWeight(request: number): number {
  const shares = Math.min(MAX_SHARES, Math.max(MIN_SHARES, Math.floor(request * 1024 / 1000)));
  return 1 + Math.floor((shares - MIN_SHARES) * 9999 / (MAX_SHARES - MIN_SHARES));
}
