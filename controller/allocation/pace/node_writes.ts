/**
 * The pace of writes that tell pods of what became of their node: a zone that fails concerns a hundred
 * thousand at once, of which most are gone before they need be told.
 *
 * @module
 */
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { createFairQueue, type FairQueue, type FairQueueOptions } from "./fair_queue.ts";

const BOUND_CROWDS = ["failed", "leaving", "over", "unconfirmed"] as const;

/** What many bounds are written for at once; `unconfirmed`: a new revision by a new leader. */
export type BoundCrowd = (typeof BOUND_CROWDS)[number];

/**
 * A line for each thing that many pods are told at once: who waits for one must not stand behind a
 * whole zone that waits for another. `agentAway`: those that wait for their node's agent.
 */
export type NodeWrites = Readonly<Record<BoundCrowd | "agentAway", FairQueue>>;

/** Empty queues, each at this rate. Throws a `RangeError` when it is not above 0. */
export function createNodeWrites(options: FairQueueOptions): NodeWrites {
  return {
    failed: createFairQueue(options),
    leaving: createFairQueue(options),
    over: createFairQueue(options),
    unconfirmed: createFairQueue(options),
    agentAway: createFairQueue(options),
  };
}

/** What holds for all pods of a node, and whom it makes wait. */
const CROWDS: ReadonlyMap<BoundReason, BoundCrowd> = new Map<BoundReason, BoundCrowd>([
  ["NodeNotReady", "failed"],
  ["NodeDraining", "leaving"],
  ["NodeCordoned", "leaving"],
]);

/**
 * The crowd that the pod is of when its bounds have the words `now` after the words `before`; undefined
 * when it is of none.
 */
export function boundCrowd(
  { before, now }: {
    readonly before: ReadonlySet<string>;
    readonly now: ReadonlySet<string>;
  },
): BoundCrowd | undefined {
  const words = [...CROWDS];
  const come = words.find(([word]) => now.has(word) && !before.has(word));
  if (come !== undefined) return come[1];
  return words.some(([word]) => before.has(word) && !now.has(word)) ? "over" : undefined;
}

/** Whether the pod's turn in the queue of its crowd has come; the pod leaves the others of bounds. */
export function takeTurn(
  writes: NodeWrites,
  { podKey, crowd }: { readonly podKey: string; readonly crowd: BoundCrowd | undefined },
): boolean {
  for (const one of BOUND_CROWDS) if (one !== crowd) writes[one].leave(podKey);
  return crowd === undefined || writes[crowd].take({ podKey });
}
