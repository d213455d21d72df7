/**
 * The key of an object in caches, queues and logs, and the order of its versions.
 *
 * @module
 */
import type { ApiObject } from "../api/object.ts";

/** `namespace/name`, or `name` for an object without a namespace. */
export function objectKey(metadata: Pick<ApiObject["metadata"], "name" | "namespace">): string {
  return metadata.namespace === undefined
    ? metadata.name
    : `${metadata.namespace}/${metadata.name}`;
}

/** The namespace of a key; empty for an object without one. */
export function namespaceOf(key: string): string {
  return key.slice(0, Math.max(0, key.indexOf("/")));
}

const DECIMAL = /^[1-9]\d*$/;

/**
 * True when `version` is `than` or newer, of two resource versions of the same kind of object;
 * undefined when they can't be compared. Kubernetes' versions are decimal numbers of any length, as
 * KEP-5504 ("Comparable Resource Version") guarantees since 1.35; those of other servers may be any text,
 * of which only equality is known.
 */
export function isAtLeast(version: string, than: string): boolean | undefined {
  if (version === than) return true;
  if (!DECIMAL.test(version) || !DECIMAL.test(than)) return undefined;
  return version.length === than.length ? version > than : version.length > than.length;
}
