/**
 * The pace of writes that tell pods of what became of their node: a zone that fails concerns a hundred
 * thousand at once, of which most are gone before they need be told.
 *
 * @module
 */
import type { BoundReason } from "../../../shared/api/reasons/bound_reasons.ts";
import { createWriteSlots, type WriteSlots } from "./write_slots.ts";

const BOUND_CROWDS = ["failed", "leaving", "over"] as const;

/** What the bounds of many pods say at once. */
export type BoundCrowd = (typeof BOUND_CROWDS)[number];

/**
 * A line for each thing that many pods are told at once: who waits for one must not stand behind a
 * whole zone that waits for another. `agentAway`: those that wait for their node's agent.
 */
export type NodeWrites = Readonly<Record<BoundCrowd | "agentAway", WriteSlots>>;

/** Lines that nobody stands in, each at this rate. Throws a `RangeError` when it is not above 0. */
export function createNodeWrites(rate: { readonly perSecond: number }): NodeWrites {
  return {
    failed: createWriteSlots(rate),
    leaving: createWriteSlots(rate),
    over: createWriteSlots(rate),
    agentAway: createWriteSlots(rate),
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

/** The pod's turn in the line of its crowd, see `WriteSlots.take()`; it leaves the others of bounds. */
export function takeTurn(
  writes: NodeWrites,
  podKey: string,
  { crowd, nowMs }: {
    readonly crowd: BoundCrowd | undefined;
    readonly nowMs: number;
  },
): number {
  for (const one of BOUND_CROWDS) if (one !== crowd) writes[one].free(podKey, nowMs);
  return crowd === undefined ? 0 : writes[crowd].take(podKey, nowMs);
}
