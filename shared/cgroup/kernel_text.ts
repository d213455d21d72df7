/**
 * Parsers of the text that the kernel prints in cgroup files, of both versions.
 *
 * Sources: Linux, Documentation/admin-guide/cgroup-v2.rst, "CPU Interface Files";
 * Documentation/scheduler/sched-bwc.rst, "Statistics"; Documentation/accounting/psi.rst.
 *
 * @module
 */

/** A 64-bit counter has at most 20 digits; nothing longer, signed or fractional is one. */
const COUNTER = /^\d{1,20}$/;

/** Where a text was found, for the message of an error. */
interface TextPlace {
  /** The file's name, for instance `cpu.stat`. */
  readonly file: string;
  /** Counted from 1. */
  readonly line: number;
}

/**
 * The value of a counter. Counters above 2^53 lose their last digits, which for nanoseconds begins
 * after 104 days of CPU time and then costs 2 ns. Throws a `SyntaxError` that names file and line.
 */
function parseCounter(text: string, place: TextPlace): number {
  if (!COUNTER.test(text)) throw malformed(text, { ...place, expected: "a counter" });
  return Number(text);
}

/** The error for a text that is not what the kernel prints; long texts are cut. */
function malformed(
  text: string,
  { file, line, expected }: TextPlace & { readonly expected: string },
): SyntaxError {
  const shown = JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
  return new SyntaxError(`Cannot parse ${file}: line ${line} is ${shown}, expected ${expected}`);
}

/** The counter in a file that holds nothing else. Throws a `SyntaxError`. */
export function soleCounter(text: string, file: string): number {
  return parseCounter(soleLine(text, file), { file, line: 1 });
}

/** A file of one line without its line ends; cgroup v1 files of old kernels end in two. */
function soleLine(text: string, file: string): string {
  const line = text.trimEnd();
  if (line.includes("\n")) throw malformed(text, { file, line: 1, expected: "one line" });
  return line;
}

/** Bandwidth control's counters since the cgroup was made; zero where it was never enforced. */
export interface ThrottleCounters {
  /** Enforcement periods in which the cgroup was runnable. */
  readonly periods: number;
  /** Periods in which its quota ran out. */
  readonly throttledPeriods: number;
  /** Milliseconds for which its run queues were stopped, summed over CPUs. */
  readonly throttledMs: number;
}

const US_PER_MS = 1e3;
const NS_PER_MS = 1e6;

/**
 * Version 2: `usage_usec` is required; the bandwidth counters appear only where the cpu controller is
 * enabled. Throws a `SyntaxError` for anything else.
 */
export function parseCpuStatV2(text: string): ThrottleCounters & { readonly usageMs: number } {
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

/** Version 1: all three bandwidth counters are required. Throws a `SyntaxError` otherwise. */
export function parseCpuStatV1(text: string): ThrottleCounters {
  const fields = keyedCounters(text);
  const [periods, throttledPeriods, throttled] = ["nr_periods", "nr_throttled", "throttled_time"]
    .map((name) => fields.get(name));
  if (periods === undefined || throttledPeriods === undefined || throttled === undefined) {
    const expected = "a file with nr_periods, nr_throttled and throttled_time";
    throw malformed(text, { file: "cpu.stat", line: 1, expected });
  }
  return { periods, throttledPeriods, throttledMs: throttled / NS_PER_MS };
}

/** The lines `name counter` of a file. */
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

/**
 * Milliseconds of CPU time used since the cgroup was made; the kernel counts nanoseconds
 * (Linux, Documentation/admin-guide/cgroup-v1/cpuacct.rst). Throws a `SyntaxError`.
 */
export function parseCpuacctUsage(text: string): number {
  return soleCounter(text, "cpuacct.usage") / NS_PER_MS;
}

/** Enforcement period of the kernel and the kubelet by default, ms. */
export const DEFAULT_PERIOD_MS = 100;

/**
 * Version 2: millicores of `cpu.max`, for instance `20000 100000`; undefined for `max 100000`. Throws a
 * `SyntaxError`.
 */
export function parseCpuMax(text: string): number | undefined {
  const place = { file: "cpu.max", line: 1 };
  const [quota = "", period, ...rest] = soleLine(text, "cpu.max").split(" ");
  if (period === undefined || rest.length > 0) {
    throw malformed(text, { ...place, expected: "a quota and a period" });
  }
  const periodUs = parsePeriod(period, place);
  return quota === "max" ? undefined : parseCounter(quota, place) / periodUs * 1000;
}

/** Version 1: millicores of `cpu.cfs_quota_us`; undefined for -1. Throws a `SyntaxError`. */
export function parseCfsQuota(text: string, periodMs: number): number | undefined {
  if (text.trimEnd() === "-1") return undefined;
  return soleCounter(text, "cpu.cfs_quota_us") / US_PER_MS / periodMs * 1000;
}

/** Version 2: the period in `cpu.max`, milliseconds. Throws a `SyntaxError`. */
export function parseCpuMaxPeriod(text: string): number {
  const place = { file: "cpu.max", line: 1 };
  return parsePeriod(soleLine(text, place.file).split(" ")[1] ?? "", place) / US_PER_MS;
}

/** Version 1: the period in `cpu.cfs_period_us`, milliseconds. Throws a `SyntaxError`. */
export function parseCfsPeriod(text: string): number {
  const place = { file: "cpu.cfs_period_us", line: 1 };
  return parsePeriod(soleLine(text, place.file), place) / US_PER_MS;
}

function parsePeriod(text: string, place: TextPlace): number {
  const value = parseCounter(text, place);
  if (value === 0) throw malformed(text, { ...place, expected: "a period above 0" });
  return value;
}

/*
 * The CPU request that the kubelet wrote into a cgroup's weight.
 *
 * Three formulas are in use. The kubelet turns a request into shares, request × 1024 / 1000 and at
 * least 2 (pkg/kubelet/cm/helpers_linux.go, `MilliCPUToShares`), and at the level of the pod turns
 * those into a weight by the line of KEP-2254: weight = 1 + (shares − 2) × 9999 / 262142. At the
 * level of the container the runtime does the latter, and newer runc and crun use a curve through
 * shares 1024 = weight 100 instead: log10(weight) = (l² + 125 l) / 612 − 7 / 34 with l = log2(shares)
 * (opencontainers/cgroups, `ConvertCPUSharesToCgroupV2Value`). So a container's weight means two
 * things, and only the pod's is certain.
 *
 * Worked values: request 100 m = 102 shares = weight 4 by the line, 17 by the curve; one step of the
 * line is 26 shares, so requests read back from it are up to 26 m off.
 */

/** The kernel's minimum; the kubelet writes it for no request. */
const SHARES_OF_NO_REQUEST = 2;

/** Millicores requested, from the text of `cpu.shares` (version 1). Throws a `SyntaxError`. */
export function parseCpuShares(text: string): number {
  return requestOfShares(soleCounter(text, "cpu.shares"));
}

/** The weight, 1 to 10,000, from the text of `cpu.weight` (version 2). Throws a `SyntaxError`. */
export function parseCpuWeight(text: string): number {
  const file = "cpu.weight";
  const weight = soleCounter(text, file);
  // The kernel prints 0 for a cgroup with `cpu.idle`, which claims no more than weight 1.
  if (weight > 10_000) {
    throw malformed(text.trimEnd(), { file, line: 1, expected: "a weight from 0 to 10000" });
  }
  return Math.max(1, weight);
}

/** Millicores requested, from a weight that the kubelet's line made. */
export function requestOfLinearWeight(weight: number): number {
  return requestOfShares(2 + (weight - 1) * 262142 / 9999);
}

/** Millicores requested, from a weight that a newer runtime's curve made. */
export function requestOfCurvedWeight(weight: number): number {
  const log = Math.log10(weight) + 7 / 34;
  const l = (Math.sqrt(125 ** 2 + 4 * 612 * log) - 125) / 2;
  return requestOfShares(2 ** l);
}

function requestOfShares(shares: number): number {
  // The curve gives 2 shares as 2.0000000000000004.
  return shares <= SHARES_OF_NO_REQUEST + 1e-9 ? 0 : shares * 1000 / 1024;
}

/** PSI of CPU: at least one task waited, by quota or by contention. */
export interface CPUPressure {
  /** Since the cgroup was made. */
  readonly waitingMs: number;
  /** Share of the last 10 s, 0 to 1. */
  readonly share: number;
}

/** The first line; one for `full` follows. */
const SOME = /^some avg10=([\d.]+) avg60=[\d.]+ avg300=[\d.]+ total=(\d+)$/;

/** The line `some` of `cpu.pressure`. Throws a `SyntaxError`. */
export function parsePressure(text: string): CPUPressure {
  const place = { file: "cpu.pressure", line: 1 };
  const [line = ""] = text.split("\n", 1);
  const [, avg10 = "", total] = SOME.exec(line) ?? [];
  if (total === undefined) {
    throw malformed(line, { ...place, expected: "avg10, avg60, avg300 and total of some" });
  }
  return { waitingMs: parseCounter(total, place) / US_PER_MS, share: Number(avg10) / 100 };
}

/**
 * How many CPUs a list names (Linux, Documentation/admin-guide/cputopology.rst); 0 for an empty
 * one. Throws a `SyntaxError` that names `file`.
 */
export function countCpus(text: string, file: string): number {
  const line = soleLine(text, file);
  if (line === "") return 0;
  let count = 0;
  for (const range of line.split(",")) {
    const [first = "", last = first, ...rest] = range.split("-");
    const place = { file, line: 1 };
    const size = parseCounter(last, place) - parseCounter(first, place) + 1;
    if (rest.length > 0 || size < 1) {
      throw malformed(line, { ...place, expected: "a list of CPUs" });
    }
    count += size;
  }
  return count;
}
