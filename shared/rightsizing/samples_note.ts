/**
 * Whether a policy's window holds the samples that the policy asks for.
 *
 * @module
 */
import { formatDuration } from "../duration.ts";
import type { PolicySpec } from "./policy_spec.ts";

/** How metrics-server is sampled. */
export interface SamplerShape {
  /** Between two readings, ms. */
  readonly intervalMs: number;
  /** Parts of a window that the history has; the oldest of them may be left out. */
  readonly size: number;
}

/**
 * A sentence where metrics-server is sampled so seldom that one pod may have fewer samples in the window
 * than `minSamples`: then there is a recommendation at one look and none at the next. Undefined where there
 * is nothing to say. One reading may be late. 5 min, read every 30 s and kept in 16 parts, hold 8 for sure.
 */
export function samplesNote(
  { provider, windowMs, minSamples }: Pick<PolicySpec, "provider" | "windowMs" | "minSamples">,
  { intervalMs, size }: SamplerShape,
): string | undefined {
  if (provider !== "metrics-server") return undefined;
  const sure = Math.max(0, Math.floor(windowMs * (size - 1) / size / intervalMs) - 1);
  if (sure >= minSamples) return undefined;
  return `its rollingWindow of ${formatDuration(windowMs)} holds ${sure} samples of one pod for ` +
    `sure, read every ${formatDuration(intervalMs)}, and minSamples is ${minSamples}: a longer ` +
    "window, a smaller minSamples or the controller's setting rightsizing.samplerInterval helps";
}
