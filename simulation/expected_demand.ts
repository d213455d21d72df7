/**
 * What a workload is expected to ask for, second by second.
 *
 * @module
 */
import type { Workload } from "./workload.ts";

/** Expected demand at the middle of each of the first `seconds` seconds, CPUs. */
export function expectedDemand(workload: Pick<Workload, "coresAt">, seconds: number): Float64Array {
  return Float64Array.from(
    { length: Math.max(1, seconds) },
    (_, second) => workload.coresAt(second * 1000 + 500),
  );
}
