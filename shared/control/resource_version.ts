/**
 * Which of two states of an object is the newer one.
 *
 * @module
 */

const DECIMAL = /^[1-9]\d*$/;

/**
 * True when `version` is `than` or newer, of two resource versions of the same kind of object;
 * undefined when they can't be compared. Versions are decimal numbers of any length, promised since
 * Kubernetes 1.35 (KEP-5504, "Comparable Resource Version") and so in every release before it;
 * other servers may use what text they like, which then only compares for equality.
 */
export function isAtLeast(version: string, than: string): boolean | undefined {
  if (version === than) return true;
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return undefined;
  return version.length === than.length ? version > than : version.length > than.length;
}
