/**
 * How long the event loop of this process stood still, and the CPU that the process used.
 *
 * @module
 */
import process from "node:process";

/** What was seen from the start to the end. */
export interface EventLoopUse {
  readonly longestStallMs: number;
  /** The most CPU of this process between two turns of the event loop: other programs lengthen it not. */
  readonly longestStallCPUMs: number;
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
  let lastCPUMs = 0;
  let longestStallCPUMs = 0;
  const cpuMs = (): number => {
    const { user, system } = process.cpuUsage(cpuBefore);
    return (user + system) / 1000;
  };
  const look = (): void => {
    const nowMs = performance.now();
    const nowCPUMs = cpuMs();
    longestStallMs = Math.max(longestStallMs, nowMs - lastMs - LOOK_MS);
    longestStallCPUMs = Math.max(longestStallCPUMs, nowCPUMs - lastCPUMs);
    lastMs = nowMs;
    lastCPUMs = nowCPUMs;
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    end() {
      clearInterval(timer);
      look();
      const seconds = (performance.now() - begunMs) / 1000;
      return { longestStallMs, longestStallCPUMs, cpuMsPerSecond: cpuMs() / seconds };
    },
  };
}
