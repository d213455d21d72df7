/**
 * Rate limits for status writes about a node's state: a failing zone concerns a hundred thousand pods
 * at once, and most are deleted before their write is due.
 *
 * @module
 */
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { FairQueue, type FairQueueOptions } from "./fair_queue.ts";

const BULK_CAUSES = ["failed", "leaving", "recovered", "unconfirmed"] as const;

/** Causes that change the bounds of many pods at once; `unconfirmed`: a new revision by a new leader. */
export type BulkCause = (typeof BULK_CAUSES)[number];

/**
 * A queue for each cause: a pod that waits for one cause must not wait behind a whole zone that waits
 * for another. `agentAway`: pods that wait for their node's agent.
 */
export type NodeWrites = Readonly<Record<BulkCause | "agentAway", FairQueue>>;

/** Empty queues, each at this rate. Throws a `RangeError` when it is not above 0. */
export function createNodeWrites(options: FairQueueOptions): NodeWrites {
  const queue = (): FairQueue => new FairQueue(options);
  return {
    failed: queue(),
    leaving: queue(),
    recovered: queue(),
    unconfirmed: queue(),
    agentAway: queue(),
  };
}

/** The causes of the bounds that all pods of a node have at once. */
const CAUSE_OF_REASON: ReadonlyMap<BoundReason, BulkCause> = new Map<BoundReason, BulkCause>([
  ["NodeNotReady", "failed"],
  ["NodeDraining", "leaving"],
  ["NodeCordoned", "leaving"],
]);

/**
 * The cause when the reasons of a pod's bounds change from `before` to `now`; undefined when the node's
 * state is the same.
 */
export function bulkCause(
  { before, now }: {
    readonly before: ReadonlySet<string>;
    readonly now: ReadonlySet<string>;
  },
): BulkCause | undefined {
  for (const [reason, cause] of CAUSE_OF_REASON) {
    if (now.has(reason) && !before.has(reason)) return cause;
  }
  return CAUSE_OF_REASON.keys().some((reason) => before.has(reason) && !now.has(reason))
    ? "recovered"
    : undefined;
}

/** Whether the pod may write its bounds now; it leaves the queues of all other causes. */
export function takeTurn(
  writes: NodeWrites,
  { podKey, cause }: { readonly podKey: string; readonly cause: BulkCause | undefined },
): boolean {
  for (const other of BULK_CAUSES) if (other !== cause) writes[other].leave(podKey);
  return cause === undefined || writes[cause].take({ podKey });
}
