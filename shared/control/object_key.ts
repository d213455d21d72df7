/**
 * The key under which caches, queues and logs know an object.
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
