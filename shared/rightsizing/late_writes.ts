/**
 * Values that stand in the template as this product's, and that the record knows nothing of.
 *
 * @module
 */
import type { PodContainer } from "../api/pod.ts";
import { byResource, type PairEntry, pairOf, resourcesOf } from "../resize/inputs/resources.ts";
import { amountsOfResources, resourcesOfAmounts } from "./values_in_force.ts";
import type { ContainerAmounts, ValuesInForce, WorkloadRecord } from "./workload_record.ts";

/** What of a record says what was applied. */
export type AppliedRecord = Pick<WorkloadRecord, "inForce" | "appliedAtMs" | "method">;

/**
 * The record with what was written late: the answer never came, or the process ended before it had noted
 * it. It counts as applied when it is seen, so that a cooldown follows, and new values are decided on it.
 */
export function withLateWrites(
  record: AppliedRecord,
  { late, containers, nowMs }: {
    /** See `lookAtTemplate()`. */
    readonly late: readonly PairEntry[];
    /** The template's. */
    readonly containers: readonly PodContainer[];
    /** Ms since 1970. */
    readonly nowMs: number;
  },
): AppliedRecord {
  if (late.length === 0) return record;
  const names = new Set(late.map(({ container }) => container));
  const inForce = [
    ...record.inForce.filter(({ container }) => !names.has(container)),
    ...containers.filter(({ name }) => names.has(name)).map((present) => {
      const known = record.inForce.find(({ container }) => container === present.name);
      const own = late.filter(({ container }) => container === present.name);
      return valuesWith(own, { known, present });
    }),
  ];
  return { inForce, appliedAtMs: nowMs, method: "Recreate" };
}

/** A resource that was not written late stays on what it was adopted on. */
function valuesWith(
  late: readonly PairEntry[],
  { known, present }: {
    readonly known: ValuesInForce | undefined;
    readonly present: PodContainer;
  },
): ValuesInForce {
  const { container: _name, adoptedOn, ...before } = known ?? { container: present.name };
  const now = amountsOfResources(present);
  const merged = (old: ContainerAmounts, ofLate: (one: PairEntry) => PairEntry["pair"]) => {
    const wanted = byResource((resource) => {
      const found = late.find((one) => one.resource === resource);
      return found === undefined ? pairOf(resourcesOfAmounts(old), resource) : ofLate(found);
    });
    return amountsOfResources(resourcesOf(wanted));
  };
  return {
    container: present.name,
    ...merged(before, ({ pair }) => pair),
    adoptedOn: merged(adoptedOn ?? now, ({ resource }) => pairOf(present, resource)),
  };
}
