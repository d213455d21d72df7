/**
 * The pods of which nobody can say that all their quotas are back.
 *
 * @module
 */
import type { ContainerPage } from "./container_book.ts";
import { entryAt } from "./entry_at.ts";
import { lacksQuota } from "./quota_off.ts";
import type { Seat } from "./seats.ts";

const NONE: ReadonlySet<string> = new Set();

/**
 * Keys of the pods with a container that lacks its quota, or has no sample yet to show one: after a
 * restart of the agent the readings of a pod's containers come one after the other. A pod of which a
 * limit moves is none of them: that is told instead, so that `QuotaOff` is not its last word any more.
 */
export function unsettledQuotas(
  table: readonly Pick<Seat, "key">[],
  { pages, moves }: {
    /** By the place at the table, as is `moves`. */
    readonly pages: readonly Pick<ContainerPage, "quota" | "sample">[];
    readonly moves: (place: number) => boolean;
  },
): ReadonlySet<string> {
  let found: Set<string> | undefined;
  for (let i = 0; i < table.length; i++) {
    const { quota, sample } = entryAt(pages, i);
    if (sample !== undefined && !lacksQuota(quota)) continue;
    found ??= new Set();
    found.add(entryAt(table, i).key);
  }
  if (found === undefined) return NONE;
  for (let i = 0; i < table.length; i++) if (moves(i)) found.delete(entryAt(table, i).key);
  return found;
}
