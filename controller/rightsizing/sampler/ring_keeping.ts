/**
 * Rings of histograms, kept as lines of text.
 *
 * @module
 */
import {
  type ContainerRings,
  createContainerRings,
  restoredRings,
  slotsOf,
} from "../../../shared/rightsizing/container_rings.ts";
import { encodeSlots } from "../../../shared/rightsizing/usage_checkpoint.ts";
import type { RingKeeping } from "./ports.ts";

/**
 * Rings of sixteen parts a window. Their texts lose nothing: what does not fit into one ConfigMap goes
 * to a further one.
 */
export const ringKeeping: RingKeeping = {
  create: (windowMs) => createContainerRings({ windowMs }),
  encode: (rings: ContainerRings) => encodeSlots(slotsOf(rings)),
  decode(text, { nowMs, windowMs }) {
    const { rings, fault } = restoredRings(text, { shape: { windowMs }, nowMs });
    if (fault !== undefined) throw new SyntaxError(fault);
    return rings;
  },
};
