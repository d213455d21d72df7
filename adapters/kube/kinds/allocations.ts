/**
 * PodAllocations on a real API server.
 *
 * @module
 */
import {
  ALLOCATION_GROUP_VERSION,
  ALLOCATION_RESOURCE,
  type PodAllocation,
  podAllocationSchema,
} from "../../../shared/api/pod_allocation.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import { resourcePath } from "../client/connection.ts";
import { objectOf, present, textOf } from "../client/json_fields.ts";
import { listWatchOf, type OpenListWatch } from "../client/list_watch.ts";

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

/** Faults that a message names; one is mostly enough. */
const MOST_FAULTS = 3;

/**
 * Reads an allocation. Drops fields that the schema does not know, and keeps unknown reasons: another
 * version may have written them. Throws a `TypeError` that names what can't be read.
 */
export function parseAllocation(raw: unknown): PodAllocation {
  const { data, error } = podAllocationSchema.safeParse(raw);
  if (data !== undefined) return data;
  const name = textOf(objectOf(objectOf(raw).metadata).name) ?? "";
  const faults = error.issues.slice(0, MOST_FAULTS)
    .map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
  throw new TypeError(`Cannot read PodAllocation ${quotedText(name)}: ${faults.join("; ")}`);
}
