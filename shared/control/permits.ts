/**
 * A bound on the number of jobs that run at the same time, shared by jobs of many kinds.
 *
 * @module
 */

/** Permits to run a job. */
export interface Permits {
  /** Runs the job once there is a permit; the longest waiting job first. */
  run<R>(job: () => Promise<R>): Promise<R>;
}

/** Creates permits. `limit` is read before each job, so that it may change; at least 1 job runs. */
export function createPermits(limit: () => number): Permits {
  let running = 0;
  const waiting: (() => void)[] = [];

  function next(): void {
    while (waiting.length > 0 && running < Math.max(1, limit())) {
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
