/**
 * The two rings of a container, and how they come back from a checkpoint.
 *
 * @module
 */
import type { ResourceName } from "../api/pod.ts";
import { type ContainerSlots, decodeSlots } from "./usage_checkpoint.ts";
import { createUsageRing, type RingShape, type UsageRing } from "./usage_ring.ts";

/** One container of a workload, over all its pods. */
export type ContainerRings = Readonly<Record<ResourceName, UsageRing>>;

/** Empty rings. */
export function createContainerRings(shape: RingShape): ContainerRings {
  return { cpu: createUsageRing("cpu", shape), memory: createUsageRing("memory", shape) };
}

/** What a checkpoint is made of. */
export function slotsOf(rings: ContainerRings): ContainerSlots {
  return { cpu: rings.cpu.contents(), memory: rings.memory.contents() };
}

/** Rings, and what was wrong with the text if they had to begin anew. */
export interface RestoredRings {
  readonly rings: ContainerRings;
  /** A sentence without a period; absent when all went well. */
  readonly fault?: string;
}

/**
 * Rings of this shape with what a checkpoint holds of the present window, whatever shape it was written
 * in. A text that cannot be read, of an unknown version or damaged, gives empty rings and a fault.
 */
export function restoredRings(
  text: string,
  { shape, nowMs }: { readonly shape: RingShape; readonly nowMs: number },
): RestoredRings {
  const rings = createContainerRings(shape);
  try {
    const slots = decodeSlots(text);
    rings.cpu.absorb(slots.cpu, nowMs);
    rings.memory.absorb(slots.memory, nowMs);
    return { rings };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { rings, fault: error.message };
  }
}
