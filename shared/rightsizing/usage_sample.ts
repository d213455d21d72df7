/**
 * One measurement of usage, and whether it may count.
 *
 * @module
 */

/** What one container of one pod used at a time: millicores or bytes. */
export interface UsageSample {
  /** ms since 1970. */
  readonly atMs: number;
  readonly value: number;
}

/** The time that samples are taken from: later than now − window, and not later than now. */
export interface SampleWindow {
  /** ms since 1970. */
  readonly nowMs: number;
  readonly windowMs: number;
}

/** Why a sample does not count. */
export type SampleFault = "not a quantity" | "too old" | "from the future";

/**
 * Why the sample does not count in the window (now − window, now], or undefined when it does. Sources
 * answer NaN where a rate had one point, and a counter that was reset can give a negative rate: neither
 * says what was used. Clocks of two machines differ, so samples from the future do come.
 */
export function sampleFault(sample: UsageSample, window: SampleWindow): SampleFault | undefined {
  const { atMs, value } = sample;
  if (!Number.isFinite(value) || value < 0 || !Number.isFinite(atMs)) return "not a quantity";
  if (atMs > window.nowMs) return "from the future";
  return atMs > window.nowMs - window.windowMs ? undefined : "too old";
}
