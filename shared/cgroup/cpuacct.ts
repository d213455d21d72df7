/**
 * The text of `cpuacct.usage`: where cgroup version 1 keeps CPU time.
 *
 * @module
 */
import { parseCounter, soleLine } from "./counter_text.ts";

const NS_PER_MS = 1e6;

/**
 * Milliseconds of CPU time used since the cgroup was made; the kernel counts nanoseconds
 * (Linux, Documentation/admin-guide/cgroup-v1/cpuacct.rst). Throws a `SyntaxError`.
 */
export function parseCpuacctUsage(text: string): number {
  const line = soleLine(text, "cpuacct.usage");
  return parseCounter(line, { file: "cpuacct.usage", line: 1 }) / NS_PER_MS;
}
