/**
 * The quota of a cgroup, from the files of both versions.
 *
 * @module
 */
import { malformed, parseCounter, soleLine, type TextPlace } from "./counter_text.ts";

/** The default of the kernel and the kubelet, microseconds. */
const DEFAULT_PERIOD_US = 100_000;

/** The same in milliseconds. */
export const DEFAULT_PERIOD_MS = 100;

const US_PER_MS = 1000;

/** Quota / period in millicores, or undefined where there is no quota. */
export type Millicores = number | undefined;

/** Version 2, `cpu.max`: `max 100000` or `20000 100000`. Throws a `SyntaxError`. */
export function parseCpuMax(text: string): Millicores {
  const place = { file: "cpu.max", line: 1 };
  const [quota = "", period, ...rest] = soleLine(text, "cpu.max").split(" ");
  if (period === undefined || rest.length > 0) {
    throw malformed(text, { ...place, expected: "a quota and a period" });
  }
  const periodUs = positive(period, place);
  return quota === "max" ? undefined : millicores(parseCounter(quota, place), periodUs);
}

/**
 * Version 1: `cpu.cfs_quota_us`, -1 for none, with `cpu.cfs_period_us`, the kernel default of which
 * of 100 ms stands in where that file is not offered; a period that was parsed already is a number
 * of microseconds. Throws a `SyntaxError`.
 */
export function parseCfsQuota(
  quotaText: string,
  period: string | number = DEFAULT_PERIOD_US,
): Millicores {
  const quota = soleLine(quotaText, "cpu.cfs_quota_us");
  const periodUs = typeof period === "number"
    ? period
    : positive(soleLine(period, "cpu.cfs_period_us"), { file: "cpu.cfs_period_us", line: 1 });
  if (quota === "-1") return undefined;
  return millicores(parseCounter(quota, { file: "cpu.cfs_quota_us", line: 1 }), periodUs);
}

/** Version 2: the period in `cpu.max`, milliseconds. Throws a `SyntaxError`. */
export function parseCpuMaxPeriod(text: string): number {
  const place = { file: "cpu.max", line: 1 };
  return positive(soleLine(text, place.file).split(" ")[1] ?? "", place) / US_PER_MS;
}

/** Version 1: the period in `cpu.cfs_period_us`, milliseconds. Throws a `SyntaxError`. */
export function parseCfsPeriod(text: string): number {
  const place = { file: "cpu.cfs_period_us", line: 1 };
  return positive(soleLine(text, place.file), place) / US_PER_MS;
}

function positive(text: string, place: TextPlace): number {
  const value = parseCounter(text, place);
  if (value === 0) throw malformed(text, { ...place, expected: "a period above 0" });
  return value;
}

function millicores(quotaUs: number, periodUs: number): number {
  return quotaUs / periodUs * 1000;
}
