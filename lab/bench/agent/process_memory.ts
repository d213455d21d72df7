/**
 * The memory of a process, as the kernel counts it (Linux).
 *
 * @module
 */

/** A field of `/proc/PID/status`, KiB; NaN where it is missing. Throws `NotFound` without the process. */
export function memoryKiB(pid: number, field: "VmRSS" | "RssAnon" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
}
