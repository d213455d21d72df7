/**
 * The text of `cpu.stat`, in both cgroup versions.
 *
 * Source of the fields: Linux, Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files", and
 * Documentation/scheduler/sched-bwc.rst, "Statistics".
 *
 * @module
 */
import { malformed, parseCounter } from "./counter_text.ts";

/** Bandwidth control's counters since the cgroup was made; zero where it was never enforced. */
export interface ThrottleCounters {
  /** Enforcement periods in which the cgroup was runnable. */
  readonly periods: number;
  /** Those in which its quota ran out. */
  readonly throttledPeriods: number;
  /** Milliseconds its run queues were stopped, summed over CPUs. */
  readonly throttledMs: number;
}

/** `cpu.stat` of version 2 also carries the usage, in milliseconds of CPU time. */
export interface CpuStatV2 extends ThrottleCounters {
  readonly usageMs: number;
}

const US_PER_MS = 1e3;
const NS_PER_MS = 1e6;

/**
 * Version 2: `usage_usec` must be there, the bandwidth counters appear only where the cpu controller
 * is enabled. Throws a `SyntaxError` for anything else.
 */
export function parseCpuStatV2(text: string): CpuStatV2 {
  const fields = keyedCounters(text);
  const usage = fields.get("usage_usec");
  if (usage === undefined) {
    throw malformed(text, { file: "cpu.stat", line: 1, expected: "a file with usage_usec" });
  }
  return {
    usageMs: usage / US_PER_MS,
    periods: fields.get("nr_periods") ?? 0,
    throttledPeriods: fields.get("nr_throttled") ?? 0,
    throttledMs: (fields.get("throttled_usec") ?? 0) / US_PER_MS,
  };
}

/** Version 1: all three bandwidth counters must be there. Throws a `SyntaxError` otherwise. */
export function parseCpuStatV1(text: string): ThrottleCounters {
  const fields = keyedCounters(text);
  const periods = fields.get("nr_periods");
  const throttledPeriods = fields.get("nr_throttled");
  const throttled = fields.get("throttled_time");
  if (periods === undefined || throttledPeriods === undefined || throttled === undefined) {
    const expected = "a file with nr_periods, nr_throttled and throttled_time";
    throw malformed(text, { file: "cpu.stat", line: 1, expected });
  }
  return { periods, throttledPeriods, throttledMs: throttled / NS_PER_MS };
}

/** The lines `name counter` of a file. Names that are not known are read all the same. */
function keyedCounters(text: string): Map<string, number> {
  const fields = new Map<string, number>();
  let line = 0;
  let start = 0;
  while (start < text.length) {
    line++;
    let end = text.indexOf("\n", start);
    if (end === -1) end = text.length;
    const space = text.indexOf(" ", start);
    if (space <= start || space >= end) {
      throw malformed(text.slice(start, end), {
        file: "cpu.stat",
        line,
        expected: "a name and a counter",
      });
    }
    const place = { file: "cpu.stat", line };
    fields.set(text.slice(start, space), parseCounter(text.slice(space + 1, end), place));
    start = end + 1;
  }
  return fields;
}
