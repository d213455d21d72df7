/**
 * PodAllocations on a real API server.
 *
 * @module
 */
import {
  ALLOCATION_GROUP_VERSION,
  ALLOCATION_RESOURCE,
  type PodAllocation,
} from "../../../shared/api/pod_allocation.ts";
import { resourcePath } from "../client/connection.ts";
import { present } from "../client/json_fields.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";
import type { RawMetadata } from "./raw_objects.ts";

const ALLOCATIONS = { groupVersion: ALLOCATION_GROUP_VERSION, resource: ALLOCATION_RESOURCE };

/** The collection of a namespace, by default of all. */
export function allocationsPath(namespace?: string): string {
  return resourcePath({ ...ALLOCATIONS, ...present("namespace", namespace) });
}

/** The path of one allocation. */
export function allocationPath({ namespace, name }: { namespace: string; name: string }): string {
  return resourcePath({ ...ALLOCATIONS, namespace, name });
}

/** List-watch of allocations. */
export const allocationListWatch: OpenListWatch<PodAllocation> = listWatchOf({
  ...ALLOCATIONS,
  parse: parseAllocation,
});

/** Reads an allocation without labels and managed fields: there is one for each pod of the market. */
export function parseAllocation(raw: unknown): PodAllocation {
  const { metadata: { labels: _labels, managedFields: _fields, ...metadata }, ...rest } = raw as
    & PodAllocation
    & { readonly metadata: RawMetadata };
  return { ...rest, metadata };
}
