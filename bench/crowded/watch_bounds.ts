/**
 * Which rules set the bounds of how many pods, looked at every five seconds.
 *
 * @module
 */
import { allocationsPath } from "../../adapters/kube/kinds/allocations.ts";
import type { KubeConnection } from "../../adapters/kube/client/connection.ts";
import { listOf, objectOf, textOf } from "../../adapters/kube/client/json_fields.ts";
import { atTimes } from "./at_times.ts";
import type { Tally } from "./write_account.ts";

/** Where and for how long. */
export interface BoundsWatch {
  readonly connection: KubeConnection;
  readonly namespaces: readonly string[];
  /** ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
}

const EVERY_S = 5;

/** Looks until the time is over. Each reason of `status.bounds.rules`, with its pods. */
export async function watchBounds(
  { connection, namespaces, startMs, seconds }: BoundsWatch,
): Promise<Tally[]> {
  const seen = new Map<string, Set<string>>();
  for await (const _atS of atTimes({ startMs, seconds, everyS: EVERY_S })) {
    for (const namespace of namespaces) {
      noteRules(seen, await connection.request({ path: allocationsPath(namespace) }));
    }
  }
  return [...seen].map(([what, pods]) => ({ what, count: pods.size }))
    .sort((a, b) => b.count - a.count);
}

/** Adds what a list of allocations says: to each reason the UIDs of its pods. */
export function noteRules(seen: Map<string, Set<string>>, list: unknown): void {
  for (const { spec, status } of listOf(objectOf(list).items).map(objectOf)) {
    const pod = textOf(objectOf(spec).podUID) ?? "";
    for (const rule of listOf(objectOf(objectOf(status).bounds).rules).map(objectOf)) {
      const reason = textOf(rule.reason);
      if (reason === undefined) continue;
      const pods = seen.get(reason) ?? new Set();
      seen.set(reason, pods.add(pod));
    }
  }
}
