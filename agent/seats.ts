/**
 * The containers that sit at the market's table, taken from the allocations of the node.
 *
 * @module
 */
import type { ContainerBounds, PodAllocation } from "../shared/api/pod_allocation.ts";
import { objectKey } from "../shared/control/object_key.ts";
import { parseCPU } from "../shared/quantity.ts";

/** One container's place. CPU in millicores. */
export interface Seat {
  readonly allocation: PodAllocation;
  /** The hex id, without the runtime's scheme. */
  readonly containerID: string;
  readonly bounds: ContainerBounds;
  /** The user's own limit. */
  readonly ownLimit: number;
  /** The limit that was written last, if any. */
  readonly desired?: number;
  /** The credit that was written last; 1 at first. */
  readonly credit: number;
}

/** The hex id in `containerd://<hex>`. */
function hexID(containerID: string): string {
  return containerID.slice(containerID.lastIndexOf("/") + 1);
}

/** The seats of these allocations, in order of their keys; one without bounds has none yet. */
export function seatsOf(allocations: readonly PodAllocation[]): Seat[] {
  const keyed = allocations.map((allocation) => ({
    key: objectKey(allocation.metadata),
    allocation,
  }));
  keyed.sort((a, b) => a.key < b.key ? -1 : 1);
  return keyed.flatMap(({ allocation }) => {
    const { spec, status } = allocation;
    return (status?.bounds?.containers ?? []).map((bounds) => {
      const desired = spec.containers?.find(({ name }) => name === bounds.name)?.cpuLimit;
      const own = status?.originalLimits?.find(({ name }) => name === bounds.name)?.cpu;
      return {
        allocation,
        containerID: hexID(bounds.containerID),
        bounds,
        ownLimit: own === undefined ? bounds.floor : parseCPU(own),
        credit: spec.market?.credit ?? 1,
        ...(desired === undefined ? {} : { desired: parseCPU(desired) }),
      };
    });
  });
}
