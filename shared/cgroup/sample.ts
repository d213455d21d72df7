/**
 * Usage and throttling of containers between two readings of their cgroup files.
 *
 * @module
 */
import type { CPUPressure } from "./kernel_text.ts";

/** A container over one interval. CPU in millicores, times in milliseconds. */
export interface ContainerSample {
  /** The hex id, without the runtime's scheme. */
  readonly containerID: string;
  /** Monotonic time of the later reading. */
  readonly at: number;
  readonly intervalMs: number;
  /** CPU time used / interval. */
  readonly usage: number;
  /**
   * CPU time that runnable threads were kept from running by a quota / interval, summed over
   * threads, so 1000 means: one whole thread stood still. The same unit is "throttled ms per s".
   */
  readonly throttledMsPerS: number;
  /** Enforcement periods in the interval, and those in which the quota ran out. */
  readonly periods: number;
  readonly throttledPeriods: number;
  /** Share of the interval in which some task waited for CPU (PSI); absent where not offered. */
  readonly pressure?: number;
  /** CPU request, as the cgroup's weight has it; absent when that is unreadable. */
  readonly request?: number;
  /** Set when it began in this interval to use so much that its quota may run out. */
  readonly rising?: true;
  /** The container's quota now; absent when it has none. */
  readonly quota?: number;
}

/** PSI of the node and of its pods by UID; a cgroup that offers none is missing. */
export interface NodePressure {
  readonly node?: CPUPressure;
  readonly pods: ReadonlyMap<string, CPUPressure>;
}

/** A sample of a whole node. */
export interface NodeSample {
  /** By hex container id. A container without two good readings is missing, never wrong. */
  readonly containers: ReadonlyMap<string, ContainerSample>;
  /** CPU that the market may not share because others hold it. */
  readonly unmanaged: number;
}

/** A container that uses more of its quota than this may run into it before the next sample. */
const BUSY_SHARE = 0.8;

/**
 * True for a container that is close to its quota, or that seems to be on its way there: of a burst
 * that begins late in an interval the usage in it shows little. One without a quota never is.
 */
export function isBusy({ usage, rising, quota = Infinity }: ContainerSample): boolean {
  return rising === true || usage > BUSY_SHARE * quota;
}
