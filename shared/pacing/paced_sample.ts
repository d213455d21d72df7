/**
 * Containers for the tests of pacing.
 *
 * @module
 */
import { newPaceMemory, type PacedContainer, type PaceMemory } from "./paced_container.ts";

/** A container that has what it needs, 500 m, with readings since long ago; fields as given. */
export function pacedSample(
  fields: Partial<Omit<PacedContainer, "memory">> = {},
  memory: Partial<PaceMemory> = {},
): PacedContainer {
  const share = fields.share ?? 500;
  return {
    floor: 100,
    ceiling: 4000,
    least: 100,
    need: share,
    share,
    target: share,
    weight: 100,
    heldBack: 0,
    ...fields,
    memory: { ...newPaceMemory(500, -1_000_000), ...memory },
  };
}
