/**
 * The containers that sit at the market's table, taken from the allocations of the node.
 *
 * @module
 */
import type { ContainerBounds, PodAllocation } from "../shared/api/pod_allocation.ts";
import { CREDIT_BOUNDS, NEUTRAL_CREDIT } from "../shared/market/credits.ts";
import { objectKey } from "../shared/control/object_key.ts";
import { countableCPU } from "../shared/quantity.ts";

/** One container's place. CPU in millicores. */
export interface Seat {
  readonly allocation: PodAllocation;
  /** The allocation's key: `namespace/name`. */
  readonly key: string;
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

/** An allocation's seats, or a sentence on why it has none. */
export type Seats = { readonly seats: readonly Seat[] } | { readonly refused: string };

/** More than a million cores is a slip, and sums of such numbers would not be exact. */
const MOST_CPU = 1e9;
/** The market is tested with weights between these. */
const WEIGHTS = { least: 1e-6, most: 1e9 } as const;

/**
 * The seats of an allocation, none while it has no bounds. One bad bid refuses the whole pod: without
 * seats it counts as unmanaged, so what it holds is still taken off the capacity.
 */
export function seatsOf(allocation: PodAllocation): Seats {
  const seats: Seat[] = [];
  const key = objectKey(allocation.metadata);
  for (const bounds of allocation.status?.bounds?.containers ?? []) {
    const refused = refusal(bounds);
    if (refused !== undefined) return { refused: `container ${bounds.name}: ${refused}` };
    const own = ownLimitOf(allocation, bounds);
    if (own === undefined) {
      return { refused: `container ${bounds.name}: its original limit is not a CPU quantity` };
    }
    const desired = desiredOf(allocation, bounds);
    seats.push({
      allocation,
      key,
      containerID: hexID(bounds.containerID),
      bounds,
      ownLimit: own,
      credit: creditOf(allocation),
      ...(desired === undefined ? {} : { desired }),
    });
  }
  return { seats };
}

/** The hex id in `containerd://<hex>`. */
function hexID(containerID: string): string {
  return containerID.slice(containerID.lastIndexOf("/") + 1);
}

/** Why these bounds can't be bid with. */
function refusal(bounds: ContainerBounds): string | undefined {
  const { containerID, floor, ceiling, weight, demand = 0 } = bounds;
  if (!/^[0-9a-f]+$/i.test(hexID(containerID))) {
    return `containerID is "${containerID}", expected a scheme and hex digits`;
  }
  for (const [field, value] of Object.entries({ floor, ceiling, demand })) {
    if (!(Number.isInteger(value) && value >= 0 && value <= MOST_CPU)) {
      return `${field} is ${value}, expected whole millicores from 0 to ${MOST_CPU}`;
    }
  }
  if (floor > ceiling) return `floor ${floor} is above ceiling ${ceiling}`;
  if (!(weight >= WEIGHTS.least && weight <= WEIGHTS.most)) {
    return `weight is ${weight}, expected a number from ${WEIGHTS.least} to ${WEIGHTS.most}`;
  }
  return undefined;
}

function ownLimitOf({ status }: PodAllocation, bounds: ContainerBounds): number | undefined {
  const own = status?.originalLimits?.find(({ name }) => name === bounds.name)?.cpu;
  return own === undefined ? bounds.floor : cpuOrNothing(own);
}

/** What somebody else wrote there and is no quantity counts as never written. */
function desiredOf({ spec }: PodAllocation, bounds: ContainerBounds): number | undefined {
  const desired = spec.containers?.find(({ name }) => name === bounds.name)?.cpuLimit;
  return desired === undefined ? undefined : cpuOrNothing(desired);
}

function cpuOrNothing(text: string): number | undefined {
  const millicores = countableCPU(text);
  return millicores !== undefined && millicores <= MOST_CPU ? millicores : undefined;
}

function creditOf({ spec }: PodAllocation): number {
  const credit = spec.market?.credit ?? NEUTRAL_CREDIT;
  if (!Number.isFinite(credit)) return NEUTRAL_CREDIT;
  return Math.max(CREDIT_BOUNDS.least, Math.min(credit, CREDIT_BOUNDS.most));
}
