/**
 * Where allocations are found on the API server.
 *
 * @module
 */
import { pathPart } from "./connection.ts";

/** API group and version of allocations. */
export const ALLOCATION_GROUP_VERSION = "allocation.mbcas.io/v1alpha1";

/** The plural of the kind. */
export const ALLOCATION_RESOURCE = "podallocations";

const GROUP = `/apis/${ALLOCATION_GROUP_VERSION}`;

/** The collection of a namespace, or of all without one. */
export function allocationsPath(namespace?: string): string {
  return namespace === undefined
    ? `${GROUP}/${ALLOCATION_RESOURCE}`
    : `${GROUP}/namespaces/${pathPart(namespace)}/${ALLOCATION_RESOURCE}`;
}

/** One object. */
export function allocationPath({ namespace, name }: { namespace: string; name: string }): string {
  return `${allocationsPath(namespace)}/${pathPart(name)}`;
}
