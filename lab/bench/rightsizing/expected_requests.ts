/**
 * What must be recommended for usage that is known, computed without the code that recommends.
 *
 * @module
 */
import type { ResourceName } from "../../../shared/api/pod.ts";
import { type ClusterSize, valueAt } from "./known_usage.ts";

/** Of each sample of the P90 the factor 1.2, as the benchmark's policy has it. */
const SHARE = 0.9;
const FACTOR = 1.2;
const WINDOW_MS = 86_400_000;
/** Of a window of 24 h. */
const STEP_MS = 120_000;
/** Millicores a core; bytes are bytes. */
const UNITS: Readonly<Record<ResourceName, number>> = { cpu: 1000, memory: 1 };

/**
 * P90 × 1.2 of the 24 h that end at `nowMs`, over all pods: millicores or bytes, not truncated. The
 * rank lies between two samples, and so does the value, in a line.
 */
export function expectedRequest(
  { workload, container }: { readonly workload: number; readonly container: number },
  { size, resource, nowMs }: {
    readonly size: Pick<ClusterSize, "pods">;
    readonly resource: ResourceName;
    readonly nowMs: number;
  },
): number {
  const values: number[] = [];
  for (let pod = 0; pod < size.pods; pod++) {
    for (let atMs = nowMs; atMs > nowMs - WINDOW_MS; atMs -= STEP_MS) {
      values.push(valueAt({ workload, pod, container }, { resource, atMs }));
    }
  }
  values.sort((a, b) => a - b);
  const rank = SHARE * (values.length - 1);
  const low = values[Math.floor(rank)] ?? NaN;
  const high = values[Math.ceil(rank)] ?? NaN;
  return FACTOR * UNITS[resource] * (low + (high - low) * (rank % 1));
}
