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
  /** The desired limit in the allocation; absent before the first clearing. */
  readonly desired?: number;
  /** The credit in the allocation; 1 before the first clearing. */
  readonly credit: number;
}

/** All participants of a node; the same object as long as the allocations do not change. */
export interface Participants {
  /** In order of the allocations' keys, those of one allocation side by side. */
  readonly list: readonly Participant[];
  /** The hex ids of their containers. */
  readonly containerIDs: ReadonlySet<string>;
  /** The UIDs of all allocations, of those without participants too. */
  readonly uids: ReadonlySet<string>;
}

/**
 * The participants of these allocations. An allocation with bounds that can't be bid with is left out,
 * with a warning in the log; so is one that claims a container which another one has.
 */
export type ParticipantIndex = (allocations: Iterable<PodAllocation>) => Participants;

/** Millicores, a million cores: sums of larger numbers would not be exact. */
const MAX_CPU = 1e9;
/** Weights for which the market is tested. */
const WEIGHTS = { min: 1e-6, max: 1e9 } as const;

/** Creates an index without allocations. */
export function createParticipantIndex(log: Log): ParticipantIndex {
  /** Versions of allocations that were warned about. */
  const leftOut = new WeakSet<PodAllocation>();
  let indexed: readonly PodAllocation[] = [];
  let participants: Participants = { list: [], containerIDs: new Set(), uids: new Set() };

  const collect = (): Participants => {
    const containerIDs = new Set<string>();
    const list: Participant[] = [];
    const keyed = indexed.map((allocation) => ({
      key: objectKey(allocation.metadata),
      allocation,
    }));
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
    return { list, containerIDs, uids: new Set(indexed.map(({ metadata }) => metadata.uid)) };
  };

  return (allocations) => {
    const present = [...allocations];
    if (present.length !== indexed.length || present.some((one, i) => one !== indexed[i])) {
      indexed = present;
      participants = collect();
    }
    return participants;
  };
}

/** The participants of an allocation; none while it has no bounds. */
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
 * Why an allocation's bounds can't be bid with, beyond the rules of its schema. A bad bid leaves out the whole
 * pod, which then counts as unmanaged: its CPU is taken off the capacity.
 */
function refusalOf({ status }: PodAllocation): string | undefined {
  for (const { name, floor, ceiling, weight } of status?.bounds?.containers ?? []) {
    if (floor > ceiling) return `container ${name}: floor ${floor} is above ceiling ${ceiling}`;
    if (ceiling > MAX_CPU) {
      return `container ${name}: ceiling is ${ceiling}, expected at most ${MAX_CPU} millicores`;
    }
    const { min, max } = WEIGHTS;
    if (!(weight >= min && weight <= max)) {
      return `container ${name}: weight is ${weight}, expected a number from ${min} to ${max}`;
    }
  }
  return undefined;
}

/** Undefined for values out of range, which another program may have written. */
function millicoresOf(text: string | undefined): number | undefined {
  const millicores = text === undefined ? undefined : countableCPU(text);
  return millicores !== undefined && millicores <= MAX_CPU ? millicores : undefined;
}
