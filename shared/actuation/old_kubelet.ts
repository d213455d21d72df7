/**
 * Which kubelets can't resize pods in place.
 *
 * @module
 */

/** In-place resize is on by default from Kubernetes 1.33 (KEP-1287). */
const LEAST_MINOR = 33;

/** True for a version below 1.33; one that can't be read is given the benefit of the doubt. */
export function isOldKubelet(version: string | undefined): boolean {
  const [, major, minor] = /^v?(\d+)\.(\d+)/.exec(version ?? "") ?? [];
  return major === "1" && Number(minor) < LEAST_MINOR;
}
