/**
 * How near a container that must do with less than it needs comes to its share.
 *
 * @module
 */
import type { PacedContainer } from "./paced_container.ts";

/** Hysteresis is forgotten with this time constant after a change. */
const REST_MS = 60_000;
/** Nearer than this share of the limit nobody need come. */
const LEAST = 0.02;

/**
 * The hysteresis, a share of the limit, that holds for a container at the monotonic time `now`, ms:
 * `usual` where its share is all that it needs. Where it is less, the clearing divides what there is,
 * and a difference that hysteresis keeps is unfair for as long as nothing else changes: it shrinks
 * while the limit rests. A need moves all the time, a ration with its price only, so few changes follow.
 */
export function rationedHysteresis(
  { memory, share, need }: Pick<PacedContainer, "memory" | "share" | "need">,
  usual: number,
  { now }: { readonly now: number },
): number {
  if (share >= need) return usual;
  const rested = usual * Math.exp(-(now - memory.changedAt) / REST_MS);
  return Math.min(usual, Math.max(LEAST, rested));
}
