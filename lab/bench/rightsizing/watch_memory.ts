/**
 * What memory this process uses, and at its highest.
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

/** Looks again and again. */
export interface MemoryWatch extends Disposable {
  /** Each at its highest so far, garbage included. */
  highest(): MemoryUse;
}

const MEBIBYTE = 2 ** 20;
const LOOK_MS = 20;

/** What is used now. */
export function memoryNow(): MemoryUse {
  const { heapUsed, external, rss } = Deno.memoryUsage();
  return { used: (heapUsed + external) / MEBIBYTE, resident: rss / MEBIBYTE };
}

/** What is used once the garbage is gone. Throws a `TypeError` where V8 runs without `--expose-gc`. */
export async function memoryAfterGC(): Promise<MemoryUse> {
  const { gc } = globalThis as { gc?: () => void };
  if (gc === undefined) throw new TypeError("Cannot collect garbage: V8 runs without --expose-gc");
  for (let round = 0; round < 3; round++) {
    gc();
    // What ends is reported in turns of the event loop.
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  return memoryNow();
}

/** Begins. */
export function watchMemory(): MemoryWatch {
  let most = memoryNow();
  const look = (): void => {
    const now = memoryNow();
    most = {
      used: Math.max(most.used, now.used),
      resident: Math.max(most.resident, now.resident),
    };
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    highest() {
      look();
      return most;
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}
