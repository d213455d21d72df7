/**
 * The weight a CPU request becomes in cgroup v2.
 *
 * @module
 */

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
