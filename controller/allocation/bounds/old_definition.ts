/**
 * What to do about a definition (CRD) that is older than this controller: the server drops the fields
 * that it does not know, and reports nothing.
 *
 * @module
 */
import type { Bounds, ContainerBounds } from "../../../shared/api/pod_allocation.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Log } from "../../../shared/log.ts";

const REMEDY = "apply manifests/crds of this controller's version";

/** What a person can do about bounds that the server finds invalid. */
export const MAYBE_OLD_DEFINITION =
  `If the CustomResourceDefinition is older than this controller: ${REMEDY}`;

/** Fields that were dropped are tried again after this, ms: the definition may be new by now. */
const RETRY_MS = 10 * 60_000;

/** What is known of the server's definition. */
export interface OldDefinition {
  /** The bounds as the server would store them. */
  storable<T extends Pick<Bounds, "containers">>(bounds: T): T;
  /** Compares what was sent with what the server has stored. */
  compare(sent: Bounds, stored: Bounds | undefined): void;
}

/** Nothing is known to be dropped yet. */
export function createOldDefinition(
  { clock, log }: { readonly clock: Clock; readonly log: Log },
): OldDefinition {
  const droppedAt = new Map<string, number>();
  return {
    storable(bounds) {
      const before = clock.monotonic() - RETRY_MS;
      for (const [field, at] of droppedAt) if (at <= before) droppedAt.delete(field);
      if (droppedAt.size === 0) return bounds;
      const containers = bounds.containers.map((one): ContainerBounds => ({
        ...one,
        ...Object.fromEntries([...droppedAt.keys()].map((field) => [field, undefined])),
      }));
      return { ...bounds, containers };
    },
    compare(sent, stored) {
      for (const container of sent.containers) {
        const kept = stored?.containers.find(({ name }) => name === container.name);
        if (kept === undefined) continue;
        for (const [field, value] of Object.entries(container)) {
          if (value === undefined || Object.hasOwn(kept, field) || droppedAt.has(field)) continue;
          droppedAt.set(field, clock.monotonic());
          log.error("The server drops a field of PodAllocations", {
            field: `status.bounds.containers.${field}`,
            remedy: REMEDY,
          });
        }
      }
    },
  };
}
