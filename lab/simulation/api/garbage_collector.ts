/**
 * Removes allocations with a pod that is gone, a while later, as the garbage collector of the cluster.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import type { ObjectStore } from "./object_store.ts";

/** What the collector needs. */
export interface GarbageCollectorOptions {
  readonly store: ObjectStore;
  readonly clock: Clock;
  /** Time from the loss of the owner to the removal, ms. */
  readonly delayMs: number;
}

/** Collects from now on. An allocation that is created for a pod that is gone goes as well. */
export function startGarbageCollector({ store, clock, delayMs }: GarbageCollectorOptions): void {
  const { Pod: pods, PodAllocation: allocations } = store.tables;
  let seen = store.version();

  function collect(ownerUID: string): void {
    if (pods.all().some((pod) => pod.metadata.uid === ownerUID)) return;
    for (const { metadata } of allocations.all()) {
      if (metadata.ownerReferences?.some(({ uid }) => uid === ownerUID)) {
        allocations.remove(objectKey(metadata), metadata.uid);
      }
    }
  }

  function collectLater(ownerUID: string): void {
    // Never rejects: neither `sleep` nor `collect` throws.
    void clock.sleep(delayMs).then(() => collect(ownerUID));
  }

  store.onChange(() => {
    const from = seen;
    seen = store.version();
    for (let at = pods.log.after(from), entry = pods.log.at(at); entry; entry = pods.log.at(++at)) {
      if (entry.after === undefined) collectLater(entry.object.metadata.uid);
    }
    const created = allocations.log;
    for (let at = created.after(from), entry = created.at(at); entry; entry = created.at(++at)) {
      const owners = entry.before === undefined ? entry.object.metadata.ownerReferences : [];
      for (const { uid } of owners ?? []) {
        if (!pods.all().some((pod) => pod.metadata.uid === uid)) collectLater(uid);
      }
    }
  });
}
