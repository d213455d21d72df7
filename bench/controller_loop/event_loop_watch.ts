/**
 * How long the event loop of this process stood still, and the CPU that the process used.
 *
 * @module
 */
import process from "node:process";

/** What was seen from the start to the end. */
export interface EventLoopUse {
  readonly longestStallMs: number;
  readonly cpuMsPerSecond: number;
}

/** Time between two looks, ms. */
const LOOK_MS = 1;

/** Begins to watch. */
export function watchEventLoop(): { end(): EventLoopUse } {
  const begunMs = performance.now();
  const cpuBefore = process.cpuUsage();
  let lastMs = begunMs;
  let longestStallMs = 0;
  const timer = setInterval(() => {
    const nowMs = performance.now();
    longestStallMs = Math.max(longestStallMs, nowMs - lastMs - LOOK_MS);
    lastMs = nowMs;
  }, LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      const { user, system } = process.cpuUsage(cpuBefore);
      longestStallMs = Math.max(longestStallMs, performance.now() - lastMs - LOOK_MS);
      const seconds = (performance.now() - begunMs) / 1000;
      return { longestStallMs, cpuMsPerSecond: (user + system) / 1000 / seconds };
    },
  };
}
