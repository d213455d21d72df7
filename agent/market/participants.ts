/**
 * The containers that take part in the market, from the allocations of the node.
 *
 * @module
 */
import type { ContainerBounds, PodAllocation } from "../../shared/api/pod_allocation.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { Log } from "../../shared/log.ts";
import { boundedCredit } from "../../shared/market/credits.ts";
import { countableCPU } from "../../shared/quantity.ts";

/** One container that takes part. CPU in millicores. */
export interface Participant {
  readonly allocation: PodAllocation;
  /** The allocation's key: `namespace/name`. */
  readonly key: string;
  /** The hex id, without the runtime's scheme. */
  readonly containerID: string;
  readonly bounds: ContainerBounds;
  /** The limit that the user set. */
  readonly originalLimit: number;
  /** The limit that was written last, if any. */
  readonly desired?: number;
  /** The credit that was written last; 1 at first. */
  readonly credit: number;
}

/** All participants of a node. The same object as long as nothing about them changes. */
export interface Participants {
  /** In order of the allocations' keys, those of one allocation side by side. */
  readonly list: readonly Participant[];
  /** The hex ids of their containers. */
  readonly containerIDs: ReadonlySet<string>;
  /** The keys of all allocations, of those without participants too. */
  readonly keys: ReadonlySet<string>;
}

/**
 * The participants of these allocations. An allocation with bounds that can't be bid with is left out,
 * with a warning in the log; so is one that claims a container which another one has.
 */
export type ParticipantIndex = (allocations: Iterable<PodAllocation>) => Participants;

/** More than a million cores is a slip, and sums of such numbers would not be exact. */
const MOST_CPU = 1e9;
/** The market is tested with weights between these. */
const WEIGHTS = { least: 1e-6, most: 1e9 } as const;

/** An index that knows no allocation yet. */
export function createParticipantIndex(log: Log): ParticipantIndex {
  /** So that each version of an allocation is warned of once. */
  const leftOut = new WeakSet<PodAllocation>();
  let seen: readonly PodAllocation[] = [];
  let participants: Participants = { list: [], containerIDs: new Set(), keys: new Set() };

  const collect = (): Participants => {
    const containerIDs = new Set<string>();
    const list: Participant[] = [];
    const keyed = seen.map((allocation) => ({ key: objectKey(allocation.metadata), allocation }));
    keyed.sort((a, b) => a.key < b.key ? -1 : 1);
    for (const { key, allocation } of keyed) {
      const found = participantsOf(allocation);
      const ids = new Set(found.map(({ containerID }) => containerID));
      const clashes = ids.size < found.length || !ids.isDisjointFrom(containerIDs);
      const reason = refusalOf(allocation) ??
        (clashes ? "another one has one of its containers" : undefined);
      if (reason === undefined) {
        for (const id of ids) containerIDs.add(id);
        list.push(...found);
      } else if (!leftOut.has(allocation)) {
        leftOut.add(allocation);
        log.warn("Left an allocation out of the market", { key, reason });
      }
    }
    return { list, containerIDs, keys: new Set(keyed.map(({ key }) => key)) };
  };

  return (allocations) => {
    const now = [...allocations];
    if (now.length !== seen.length || now.some((one, i) => one !== seen[i])) {
      seen = now;
      participants = collect();
    }
    return participants;
  };
}

/** The participants of an allocation with good bounds, none while it has no bounds. */
export function participantsOf(allocation: PodAllocation): readonly Participant[] {
  const { metadata, spec, status } = allocation;
  return (status?.bounds?.containers ?? []).map((bounds): Participant => {
    const { name, floor } = bounds;
    const original = status?.originalLimits?.find((one) => one.name === name)?.cpu;
    const written = spec.containers?.find((one) => one.name === name)?.cpuLimit;
    const desired = millicoresOf(written);
    return {
      allocation,
      key: objectKey(metadata),
      containerID: bounds.containerID.slice(bounds.containerID.lastIndexOf("/") + 1),
      bounds,
      originalLimit: millicoresOf(original) ?? floor,
      credit: boundedCredit(spec.market?.credit ?? 1),
      ...(desired === undefined ? {} : { desired }),
    };
  });
}

/**
 * Why an allocation's bounds can't be bid with, beyond what its schema refuses. One bad bid refuses the
 * whole pod: without participants it counts as unmanaged, so what it holds is taken off the capacity.
 */
function refusalOf({ status }: PodAllocation): string | undefined {
  for (const { name, floor, ceiling, weight } of status?.bounds?.containers ?? []) {
    if (floor > ceiling) return `container ${name}: floor ${floor} is above ceiling ${ceiling}`;
    if (ceiling > MOST_CPU) {
      return `container ${name}: ceiling is ${ceiling}, expected at most ${MOST_CPU} millicores`;
    }
    if (!(weight >= WEIGHTS.least && weight <= WEIGHTS.most)) {
      return `container ${name}: weight is ${weight}, expected a number from ${WEIGHTS.least} to ` +
        `${WEIGHTS.most}`;
    }
  }
  return undefined;
}

/** A value that another program wrote and that is out of any node's range counts as absent. */
function millicoresOf(text: string | undefined): number | undefined {
  const millicores = text === undefined ? undefined : countableCPU(text);
  return millicores !== undefined && millicores <= MOST_CPU ? millicores : undefined;
}
