/**
 * What corrects samples, and no source of usage has: kills for lack of memory, and looks at what the
 * market saw wanted.
 *
 * @module
 */
import { createOOMMemory, type OOMMemory } from "./oom_memory.ts";
import { createThrottleMemory, type ThrottleMemory } from "./throttle_memory.ts";

/** Both memories; workloads go by their key. */
export interface CorrectionMemory {
  readonly oom: OOMMemory;
  readonly throttle: ThrottleMemory;
}

/** Nothing has been seen. */
export function createCorrectionMemory(): CorrectionMemory {
  return { oom: createOOMMemory(), throttle: createThrottleMemory() };
}
