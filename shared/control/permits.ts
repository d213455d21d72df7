/**
 * Jobs of many kinds that share one bound on how many run at the same time.
 *
 * @module
 */

/** The bound. */
export interface Permits {
  /** Runs the job once fewer than the bound do; the longest waiting first. */
  run<R>(job: () => Promise<R>): Promise<R>;
}

/** Makes free permits. `most` is read at each turn, so that it may change; below 1 it counts as 1. */
export function createPermits(most: () => number): Permits {
  let running = 0;
  const waiting: (() => void)[] = [];

  function next(): void {
    while (waiting.length > 0 && running < Math.max(1, most())) {
      running++;
      waiting.shift()?.();
    }
  }

  return {
    async run(job) {
      await new Promise<void>((go) => {
        waiting.push(go);
        next();
      });
      try {
        return await job();
      } finally {
        running--;
        next();
      }
    },
  };
}
