/**
 * Files about the node as a whole: its CPUs, and whether the kernel enforces quotas.
 *
 * @module
 */
import { countCpus, parseCpuacctUsage, parseCpuStatV2 } from "./kernel_text.ts";
import { type CgroupLayout, joinPath } from "./layout.ts";
import type { CgroupTree } from "./tree.ts";

/** The root's CPUs, in version 2 and version 1. */
const FILES = [
  "cpuset.cpus.effective",
  "cpuset/cpuset.effective_cpus",
  "cpuset/cpuset.cpus",
];

/**
 * CPUs of the node, or undefined where no cpuset is mounted. A process in a container cannot take
 * its own number of CPUs for it: runtimes lower that by the container's quota.
 */
export function readNodeCores(tree: CgroupTree): number | undefined {
  for (const file of FILES) {
    const text = tree.read(file);
    const count = text === undefined ? 0 : countCpus(text, file.slice(file.indexOf("/") + 1));
    if (count > 0) return count;
  }
  return undefined;
}

/**
 * Milliseconds of CPU time that all processes of the node have used, or undefined where the root has no
 * such counter (version 2 before Linux 5.8). Throws a `SyntaxError` for bad text.
 */
export function readNodeUsage(
  tree: Pick<CgroupTree, "read">,
  { version, cpu, cpuacct }: Pick<CgroupLayout, "version" | "cpu" | "cpuacct">,
): number | undefined {
  const text = tree.read(
    version === 1 ? joinPath(cpuacct, "cpuacct.usage") : joinPath(cpu, "cpu.stat"),
  );
  if (text === undefined) return undefined;
  return version === 1 ? parseCpuacctUsage(text) : parseCpuStatV2(text).usageMs;
}

/** Below `/sys/kernel`: `disabled`, `enabling`, `enabled` or `disabling`. Kernels before 6.12 have none. */
const STATE = "sched_ext/state";

/**
 * Whether the kernel ignores CPU quotas. While a sched_ext scheduler is attached, tasks of the fair class
 * are its own, and `cpu.max` is a hint that it may ignore (Linux, Documentation/scheduler/sched-ext.rst;
 * kernel/sched/ext.c). True unless no scheduler is attached; `kernel` is what the host has in
 * `/sys/kernel`.
 */
export function ignoresLimits(kernel: Pick<CgroupTree, "read">): boolean {
  const state = kernel.read(STATE);
  return state !== undefined && state.trim() !== "disabled";
}
