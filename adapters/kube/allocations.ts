/**
 * Allocations on a real API server.
 *
 * @module
 */
import type { PodAllocation } from "../../shared/api/pod_allocation.ts";
import { storedAllocationSchema } from "../../shared/api/stored_allocation.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import type { ListWatch } from "../../shared/control/list_watch.ts";
import { allocationsPath } from "./allocation_path.ts";
import type { KubeConnection } from "./connection.ts";
import { objectOf, textOf } from "./json_fields.ts";
import { kubeListWatch, type ListWatchSurroundings } from "./kube_list_watch.ts";

/** Which allocations. */
export interface AllocationSelection extends ListWatchSurroundings {
  /** Only those of this node; the server selects them. */
  readonly nodeName?: string;
}

/** List-watch of allocations, by default of all. */
export function allocationListWatch(
  connection: KubeConnection,
  { nodeName, ...rest }: AllocationSelection = {},
): ListWatch<PodAllocation> {
  return kubeListWatch(connection, {
    ...rest,
    path: allocationsPath(),
    ...(nodeName === undefined ? {} : { fieldSelector: `spec.nodeName=${nodeName}` }),
    parse: parseAllocation,
  });
}

/** Faults that are named; one is mostly enough. */
const MOST_FAULTS = 3;

/**
 * The allocation; fields that the schema does not know are dropped, reason words are kept. Throws a
 * `TypeError` that names what can't be read.
 */
export function parseAllocation(raw: unknown): PodAllocation {
  const { data, error } = storedAllocationSchema.safeParse(raw);
  if (data !== undefined) return data;
  const name = textOf(objectOf(objectOf(raw).metadata).name) ?? "";
  const faults = error.issues.slice(0, MOST_FAULTS)
    .map(({ path, message }) => `${path.join(".") || "it"}: ${message}`);
  throw new TypeError(`Cannot read PodAllocation ${quotedText(name)}: ${faults.join("; ")}`);
}
