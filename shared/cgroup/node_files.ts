/**
 * Files about the node as a whole: its CPUs, and whether the kernel enforces quotas.
 *
 * @module
 */
import { countCpus, parseCpuacctUsage, parseCpuStatV2 } from "./kernel_text.ts";
import { type CgroupLayout, joinPath } from "./layout.ts";
import type { CgroupTree } from "./tree.ts";

/** Files with the root's CPUs, of version 2, then of version 1. */
const CPUSET_FILES = [
  "cpuset.cpus.effective",
  "cpuset/cpuset.effective_cpus",
  "cpuset/cpuset.cpus",
];

/**
 * CPUs of the node, or undefined where no cpuset is mounted. `navigator.hardwareConcurrency` would be less
 * in a container with a quota.
 */
export function readNodeCores(tree: CgroupTree): number | undefined {
  for (const file of CPUSET_FILES) {
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

/** Has `disabled`, `enabling`, `enabled` or `disabling`. Absent before Linux 6.12. */
const SCHED_EXT_STATE = "sched_ext/state";

/**
 * Whether a sched_ext scheduler is attached. It runs the tasks of the fair class, and may ignore `cpu.max`
 * (Linux, Documentation/scheduler/sched-ext.rst; kernel/sched/ext.c). `kernel` reads the host's
 * `/sys/kernel`.
 */
export function ignoresLimits(kernel: Pick<CgroupTree, "read">): boolean {
  const state = kernel.read(SCHED_EXT_STATE);
  return state !== undefined && state.trim() !== "disabled";
}
