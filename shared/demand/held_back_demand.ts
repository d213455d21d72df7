/**
 * Demand from what ran and what was kept from running.
 *
 * @module
 */
import type { DemandRule } from "./signal.ts";

/**
 * demand = usage + time held back: a thread that was runnable and throttled would have run. One
 * busy thread at a quota of 200 m uses 200 and is held back 800: it wants 1000. It overstates a
 * short queue (the same work would have ended sooner), never understates what was runnable.
 */
export const heldBackDemand: DemandRule = ({ usage, heldBack }) => usage + heldBack;
