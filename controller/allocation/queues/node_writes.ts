/**
 * Rate limits for status writes about a node's state: a failing zone concerns a hundred thousand pods
 * at once, and most are deleted before their write is due.
 *
 * @module
 */
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { FairQueue, type FairQueueOptions } from "./fair_queue.ts";

const BOUND_CROWDS = ["failed", "leaving", "over", "unconfirmed"] as const;

/** Causes of many writes of bounds at once; `unconfirmed`: a new revision by a new leader. */
export type BoundCrowd = (typeof BOUND_CROWDS)[number];

/**
 * A queue for each cause: a pod that waits for one cause must not wait behind a whole zone that waits
 * for another. `agentAway`: pods that wait for their node's agent.
 */
export type NodeWrites = Readonly<Record<BoundCrowd | "agentAway", FairQueue>>;

/** Empty queues, each at this rate. Throws a `RangeError` when it is not above 0. */
export function createNodeWrites(options: FairQueueOptions): NodeWrites {
  const queue = (): FairQueue => new FairQueue(options);
  return {
    ...{ failed: queue(), leaving: queue(), over: queue(), unconfirmed: queue() },
    agentAway: queue(),
  };
}

/** The bounds of all pods of a node, and the queue of each. */
const CROWDS: ReadonlyMap<BoundReason, BoundCrowd> = new Map<BoundReason, BoundCrowd>([
  ["NodeNotReady", "failed"],
  ["NodeDraining", "leaving"],
  ["NodeCordoned", "leaving"],
]);

/**
 * The queue of a pod when the reasons of its bounds change from `before` to `now`; undefined when it
 * needs none.
 */
export function boundCrowd(
  { before, now }: {
    readonly before: ReadonlySet<string>;
    readonly now: ReadonlySet<string>;
  },
): BoundCrowd | undefined {
  const crowds = [...CROWDS];
  const come = crowds.find(([reason]) => now.has(reason) && !before.has(reason));
  if (come !== undefined) return come[1];
  return crowds.some(([reason]) => before.has(reason) && !now.has(reason)) ? "over" : undefined;
}

/** Whether the pod's turn in the queue of its crowd has come; the pod leaves the others of bounds. */
export function askQueue(
  writes: NodeWrites,
  { podKey, crowd }: { readonly podKey: string; readonly crowd: BoundCrowd | undefined },
): boolean {
  for (const one of BOUND_CROWDS) if (one !== crowd) writes[one].leave(podKey);
  return crowd === undefined || writes[crowd].take({ podKey });
}
