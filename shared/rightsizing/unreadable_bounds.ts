/**
 * Bounds of a namespace that can't be read: they must not pass for none.
 *
 * @module
 */
import type { LimitRange } from "../api/limit_range.ts";
import type { ResourceQuota } from "../api/resource_quota.ts";

/** What bounds a namespace. */
export interface NamespaceBounds {
  readonly limitRanges: readonly LimitRange[];
  readonly quotas: readonly ResourceQuota[];
}

/** A sentence for each object that can't be read, as a whole or of memory. */
export function unreadableBounds({ limitRanges, quotas }: NamespaceBounds): readonly string[] {
  return [
    ...limitRanges.flatMap((one) => faultsOf("LimitRange", one)),
    ...quotas.flatMap((one) => faultsOf("ResourceQuota", one)),
  ];
}

function faultsOf(
  kind: string,
  { metadata: { name }, unreadable, unreadableMemory }:
    & Pick<LimitRange, "unreadable" | "unreadableMemory">
    & { readonly metadata: { readonly name: string } },
): readonly string[] {
  const words = unreadable ?? unreadableMemory;
  return words === undefined ? [] : [`${kind} ${name}: ${words}`];
}
