/**
 * The memory of this process, or of another one by its `/proc`.
 *
 * @module
 */

/** MiB. */
export interface MemoryUse {
  /** V8's objects and buffers. */
  readonly used: number;
  /** Resident, of the whole process. */
  readonly resident: number;
}

const LOOK_MS = 20;

function memoryNow(): MemoryUse {
  const { heapUsed, external, rss } = Deno.memoryUsage();
  return { used: (heapUsed + external) / 2 ** 20, resident: rss / 2 ** 20 };
}

/** The memory in use after garbage collection. Needs V8's flag `--expose-gc`. */
export async function memoryAfterGC(): Promise<MemoryUse> {
  const { gc } = globalThis as unknown as { gc(): void };
  for (let round = 0; round < 3; round++) {
    gc();
    // Finalizers run in turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return memoryNow();
}

/** Looks again and again; the function ends it with each figure at its highest, garbage included. */
export function watchMemory(): () => MemoryUse {
  let most = memoryNow();
  const look = (): void => {
    const { used, resident } = memoryNow();
    most = { used: Math.max(most.used, used), resident: Math.max(most.resident, resident) };
  };
  const timer = setInterval(look, LOOK_MS);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

/** A field of `/proc/PID/status`, KiB. Throws `NotFound` without the process. */
export function memoryKiB(pid: number, field: "VmRSS" | "RssAnon" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)?.[1]);
}
