/**
 * Whether the kernel enforces CPU quotas.
 *
 * While a sched_ext scheduler is attached, tasks of the fair class are its own, and `cpu.max` is a
 * hint that it may pass over (Linux, Documentation/scheduler/sched-ext.rst; kernel/sched/ext.c).
 *
 * @module
 */
import type { CgroupTree } from "./tree.ts";

/** Below `/sys/kernel`: `disabled`, `enabling`, `enabled` or `disabling`. Kernels before 6.12 have none. */
const STATE = "sched_ext/state";

/** True unless no scheduler is attached; `kernel` is what the host has in `/sys/kernel`. */
export function ignoresLimits(kernel: Pick<CgroupTree, "read">): boolean {
  const state = kernel.read(STATE);
  return state !== undefined && state.trim() !== "disabled";
}
