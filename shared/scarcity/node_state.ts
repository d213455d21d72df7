/**
 * Whether a node's CPU is ample or scarce.
 *
 * @module
 */
import type { Mode } from "../market/solver.ts";

/** The values of {@linkcode NodeState}. */
export const NODE_STATES = ["ample", "scarce"] as const;

/** `ample`: the price is 0 and every limit is at its ceiling. `scarce`: the market divides the CPU. */
export type NodeState = typeof NODE_STATES[number];

/** The state between two readings. Times are monotonic milliseconds. */
export interface NodeStateMemory {
  readonly state: NodeState;
  readonly since: number;
  /** While scarce: since when clearly less than the capacity has been wanted. */
  readonly easedSince?: number;
}

/** The state in `tight`: CPU is scarce while the needs do not fit the node. */
export function stateAfterClearing(
  memory: NodeStateMemory,
  { now, mode }: { readonly now: number; readonly mode: Mode },
): NodeStateMemory {
  const state = mode === "uncongested" ? "ample" : "scarce";
  return memory.state === state ? memory : { state, since: now };
}

/** Load of the node, millicores. */
export interface NodeLoad {
  /** Usage of all containers in the market, averaged over a second. */
  readonly usage: number;
  /** The same, with the throttled time of containers below their ceilings. */
  readonly wanted: number;
}

/** Scarcity ends while less than this share of the capacity is wanted … */
const EASED_SHARE = 0.9;
/** … for this long, ms. */
const EASED_MS = 10_000;

/** The state before the first reading. */
export function newNodeState(now: number): NodeStateMemory {
  return { state: "ample", since: now };
}

/**
 * The state in `free` after a reading at the monotonic time `now`, ms. CPU becomes scarce when usage
 * reaches `capacity`, millicores, which is less than the node has.
 */
export function nextNodeState(
  memory: NodeStateMemory,
  { now, capacity, usage, wanted }: NodeLoad & { readonly now: number; readonly capacity: number },
): NodeStateMemory {
  if (memory.state === "ample") {
    return usage > 0 && usage >= capacity ? { state: "scarce", since: now } : memory;
  }
  const { state, since, easedSince = now } = memory;
  if (wanted > 0 && wanted >= EASED_SHARE * capacity) return { state, since };
  if (now - easedSince >= EASED_MS) return { state: "ample", since: now };
  return { state, since, easedSince };
}
