/**
 * Mean usage of a container, and how unevenly its work comes.
 *
 * @module
 */

/** Settings of {@linkcode createUsageLevel}. */
export interface LevelOptions {
  /** Time constant of the mean, ms. @default {15000} */
  readonly meanMs?: number;
}

/** Level and burstiness in the making. */
export interface UsageLevel {
  /** Takes the usage of an interval, millicores. */
  feed(usage: number, intervalMs: number): void;
  /** Millicores; 0 before the first interval. */
  readonly mean: number;
  /** CPU ms: variance of the work of a time / mean work of that time. */
  readonly burstinessMs: number;
}

/** Usage is averaged over blocks of this length. */
const BLOCK_MS = 1000;
/** Time constant of the burstiness. */
const MEMORY_MS = 300_000;
/** Burstiness of requests of 10 ms that vary as much as they cost: taken until there is a history. */
const USUAL_BURSTINESS_MS = 20;
/** Blocks that it counts for, fading as others come. */
const USUAL_BLOCKS = 10;
/** Blocks at the end of which a shift of the level is looked for. */
const LONGEST_WINDOW = 8;
/** Standard errors beyond which the level is taken to have shifted. */
const SURPRISE = 5;
/** (millicores)²: steadier than the readings themselves nothing is. */
const LEAST_VARIANCE = 1;
/** Millicores; a level below is no base to scale from. */
const LEAST_LEVEL = 1;
/** A difference between two blocks counts up to this many standard deviations of usual work. */
const MOST_DEVIATIONS = 5;

/**
 * The mean fades exponentially. It moves at once to the mean of the last one to eight blocks where
 * that is further away than chance explains: a level that has shifted should not be averaged with
 * what was before. Of those means the one that chance explains least is taken, as a likelihood ratio
 * test for a change at an unknown moment does (Page: Continuous inspection schemes, 1954).
 *
 * Work that comes at random (a compound Poisson process of jobs S) has a variance in proportion to
 * time and mean: burstiness = E[S²] / E[S]. It is estimated from differences of neighbouring blocks
 * (von Neumann's mean square successive difference), which a slow drift does not inflate, and each
 * difference counts no more than chance makes plausible, so that a shift does not either.
 */
export function createUsageLevel({ meanMs = 15_000 }: LevelOptions = {}): UsageLevel {
  let mean: number | undefined;
  let used = 0;
  let spanMs = 0;
  /** Blocks of late, the newest last; millicores. */
  const recent: number[] = [];
  /** Fading sums over blocks: squared differences / 2 × time, usage, and their count. */
  let squares = 0;
  let sum = 0;
  let count = 0;

  function burstiness(): number {
    const usual = USUAL_BLOCKS * Math.exp(-count / USUAL_BLOCKS);
    // (millicores)² ms / millicores are thousandths of CPU ms.
    const seen = sum > 0 ? squares / sum / 1000 : 0;
    return (usual * USUAL_BURSTINESS_MS + count * seen) / (usual + count);
  }

  function endBlock(block: number): void {
    const now = burstiness();
    const last = recent.at(-1);
    if (last !== undefined) {
      const fade = Math.exp(-spanMs / MEMORY_MS);
      const middle = (block + last) / 2;
      const most = MOST_DEVIATIONS ** 2 * Math.max(now, USUAL_BURSTINESS_MS) * 1000 * middle;
      squares = fade * squares + Math.min((block - last) ** 2 / 2 * spanMs, most);
      sum = fade * sum + middle;
      count = fade * count + 1;
    }
    recent.push(block);
    if (recent.length > LONGEST_WINDOW) recent.shift();
    const before = mean ?? block;
    const averaged = before + (1 - Math.exp(-spanMs / meanMs)) * (block - before);
    mean = shifted(averaged, now);
    if (mean !== averaged && averaged > LEAST_LEVEL) {
      // The burstiness that was learnt holds at the new level too, and must not outweigh it.
      squares *= mean / averaged;
      sum *= mean / averaged;
    }
    used = 0;
    spanMs = 0;
  }

  /** The mean, or that of the window that chance explains least, if it hardly does. */
  function shifted(before: number, burstinessMs: number): number {
    let after = before;
    let strangest = SURPRISE;
    let blocks = recent.length;
    let total = 0;
    for (let window = 1; window <= recent.length; window++) {
      total += recent[recent.length - window] ?? 0;
      const average = total / window;
      const variance = burstinessMs * 1000 * Math.max(before, average) / (window * BLOCK_MS);
      const deviations = Math.abs(average - before) / Math.sqrt(Math.max(variance, LEAST_VARIANCE));
      if (deviations <= strangest) continue;
      strangest = deviations;
      after = average;
      blocks = window;
    }
    // Blocks before belong to the level that was left: they would be a shift back the next time.
    if (after !== before) recent.splice(0, recent.length - blocks);
    return after;
  }

  return {
    feed(usage, intervalMs) {
      mean ??= usage;
      used += usage * intervalMs;
      spanMs += intervalMs;
      if (spanMs >= BLOCK_MS) endBlock(used / spanMs);
    },
    get mean() {
      return mean ?? 0;
    },
    get burstinessMs() {
      return burstiness();
    },
  };
}
