/**
 * A throttled pod's figures before and after.
 *
 * @module
 */

/** One look at a pod: monotonic ms, its quota in millicores, counters since its start in ms. */
export interface ReliefSample {
  readonly at: number;
  readonly limit: number;
  readonly throttledMs: number;
  readonly usageMs: number;
}

/** What was seen, in order of time. */
export interface ReliefRun {
  /** With its own limit. */
  readonly alone: readonly ReliefSample[];
  /** With the market, from the moment on when it was let in. */
  readonly managed: readonly ReliefSample[];
  readonly optedInAt: number;
}

/** Means over a stretch of time. */
export interface ReliefStretch {
  readonly seconds: number;
  /** Throttled time per time, ms/s; of pod and container, whichever the kernel counts it at. */
  readonly throttledMsPerS: number;
  /** Usage in millicores. */
  readonly usage: number;
  /** Limit at the end, millicores. */
  readonly limit: number;
  /** How often the limit changed. */
  readonly changes: number;
}

/** What the benchmark prints. */
export interface ReliefReport {
  readonly before: ReliefStretch;
  /**
   * Seconds from opting in until the pod is throttled less than the target in each of the next
   * {@linkcode CALM_S} seconds; null when that never came.
   */
  readonly convergenceS: number | null;
  /** From convergence to the end. */
  readonly after: ReliefStretch | null;
  /**
   * Changes in the busiest five minutes since opting in, those that brought convergence included, or
   * in all of it where it is shorter; null without convergence.
   */
  readonly changesIn5Min: number | null;
}

/** A pod below this is not throttled any more, ms/s: the target that the reports go by. */
const CALM_MS_PER_S = 20;
/** Seconds in a row that must be below it. */
export const CALM_S = 10;

/** Sums up. Throws a `RangeError` for a stretch with fewer than two looks. */
export function reliefReport({ alone, managed, optedInAt }: ReliefRun): ReliefReport {
  const from = managed.findIndex((_, index) => isCalmFrom(managed, index));
  const calm = from < 0 ? undefined : managed.slice(from);
  return {
    before: stretchOf(alone),
    convergenceS: calm === undefined ? null : ((calm[0]?.at ?? 0) - optedInAt) / 1000,
    after: calm === undefined ? null : stretchOf(calm),
    changesIn5Min: calm === undefined ? null : busiest(managed, 300_000),
  };
}

/** Whether each of the seconds after a look stays below the target. */
function isCalmFrom(samples: readonly ReliefSample[], index: number): boolean {
  for (let begin = index, second = 0; second < CALM_S; second++) {
    const start = samples[begin]?.at ?? Infinity;
    const end = samples.findIndex(({ at }, i) => i > begin && at - start >= 1000);
    if (end < 0) return false;
    if (stretchOf(samples.slice(begin, end + 1)).throttledMsPerS >= CALM_MS_PER_S) return false;
    begin = end;
  }
  return true;
}

/** Means over samples. */
function stretchOf(samples: readonly ReliefSample[]): ReliefStretch {
  const first = samples[0];
  const last = samples.at(-1);
  if (first === undefined || last === undefined || last.at <= first.at) {
    throw new RangeError(
      `Cannot sum up ${samples.length} looks: two at different times are needed`,
    );
  }
  const seconds = (last.at - first.at) / 1000;
  return {
    seconds,
    throttledMsPerS: (last.throttledMs - first.throttledMs) / seconds,
    usage: (last.usageMs - first.usageMs) / seconds,
    limit: last.limit,
    changes: changeTimes(samples).length,
  };
}

/** When the limit was seen to be another. */
function changeTimes(samples: readonly ReliefSample[]): number[] {
  return samples.flatMap(({ at, limit }, index) =>
    index > 0 && limit !== samples[index - 1]?.limit ? [at] : []
  );
}

/** The most changes within a window of `ms`. */
function busiest(samples: readonly ReliefSample[], ms: number): number {
  const times = changeTimes(samples);
  const counts = times.map((from) => times.filter((at) => at >= from && at < from + ms).length);
  return Math.max(0, ...counts);
}

/** The report for people. */
export function reliefTable(report: ReliefReport): string {
  const row = (name: string, stretch: ReliefStretch): string =>
    name.padEnd(8) +
    [
      `${stretch.throttledMsPerS.toFixed(1)} ms/s throttled`,
      `${stretch.usage.toFixed(0)}m used`,
      `limit ${stretch.limit.toFixed(0)}m`,
      `${stretch.changes} changes in ${stretch.seconds.toFixed(0)} s`,
    ].join(", ");
  const { before, after, convergenceS, changesIn5Min } = report;
  if (after === null || convergenceS === null) {
    return `${row("before", before)}\nafter   still throttled ${CALM_MS_PER_S} ms/s or more`;
  }
  return [
    row("before", before),
    row("after", after),
    `Calm ${convergenceS.toFixed(1)} s after it was let in; ` +
    `at most ${changesIn5Min} changes in five minutes.`,
  ].join("\n");
}
