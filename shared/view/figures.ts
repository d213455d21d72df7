/**
 * CPU, memory, prices, ages and workloads as the command and the dashboard print them.
 *
 * @module
 */
import type { WorkloadKind } from "../api/workload.ts";
import type { Mode } from "../market/solver.ts";

/** Stands for an unknown value. */
export const UNKNOWN = "-";

/** The colour of a text. */
export type Tone = "green" | "cyan" | "yellow" | "red" | "dim";

/** The colour of a node's mode. */
export const MODE_TONES: Readonly<Record<Mode, Tone>> = {
  uncongested: "green",
  congested: "yellow",
  overloaded: "red",
};

/** Throttled ms/s above which pods suffer, and above which it is worth a look. */
const SUFFERS = 100;
const NOTICEABLE = 20;

/** The colour of throttled time, ms/s; undefined: none. */
export function throttledTone(msPerSecond = 0): Tone | undefined {
  return msPerSecond > SUFFERS ? "red" : msPerSecond > NOTICEABLE ? "yellow" : undefined;
}

/** `1 pod`, `2 pods`. */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** Whole millicores: `450m`; `-` for what is not known. */
export function cpuText(millicores: number | undefined): string {
  return millicores === undefined ? UNKNOWN : `${Math.round(millicores)}m`;
}

/** Cores with two decimals: `3.42`. */
export function coresText(millicores: number): string {
  return (millicores / 1000).toFixed(2);
}

/**
 * A price, weight per core, with three significant digits: `267`. `∞` when no amount pays
 * (null), `0` when nothing is scarce, `-` when there is none.
 */
export function priceText(price: number | null | undefined): string {
  if (price === undefined) return UNKNOWN;
  if (price === null) return "∞";
  return price >= 1000 ? price.toFixed(0) : Number(price.toPrecision(3)).toString();
}

/** Milliseconds in every second: `412`; `-` for what is not known, `0` below a half. */
export function throttledText(msPerSecond: number | undefined): string {
  return msPerSecond === undefined ? UNKNOWN : String(Math.round(msPerSecond));
}

/** Whole percent: `12 %`; `-` for what is not known. */
export function shareText(share: number | undefined): string {
  return share === undefined ? UNKNOWN : `${Math.round(share * 100)} %`;
}

/** A time span as kubectl writes ages: `250ms`, `12s`, `5m`, `3h`, `2d`. */
export function ageText(ms: number | undefined): string {
  if (ms === undefined || !Number.isFinite(ms)) return UNKNOWN;
  const span = Math.max(0, ms);
  if (span < 1000) return `${Math.round(span)}ms`;
  const seconds = Math.floor(span / 1000);
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 2 * 3600) return `${Math.floor(seconds / 60)}m`;
  if (seconds < 2 * 86_400) return `${Math.floor(seconds / 3600)}h`;
  return `${Math.floor(seconds / 86_400)}d`;
}

const UNITS = ["", "Ki", "Mi", "Gi", "Ti", "Pi"] as const;

/**
 * Bytes with three significant digits, in the largest unit in which it is at least 1: 88617123 is `84.5Mi`, 2^30
 * is `1Gi`; `-` for what is not known.
 */
export function memoryText(bytes: number | undefined): string {
  if (bytes === undefined) return UNKNOWN;
  let value = bytes;
  let unit = 0;
  // 1023.6 would be 1024 of its unit, which is 1 of the next.
  while (Math.round(value) >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value >= 100 ? Math.round(value) : Number(value.toPrecision(3))}${UNITS[unit]}`;
}

/** The key of a workload among those of all namespaces and kinds. */
export function workloadKey(
  { namespace, kind, name }: {
    readonly namespace: string;
    readonly kind: string;
    readonly name: string;
  },
): string {
  return `${namespace}/${kind}/${name}`;
}

/** The workload as commands take it: `deployment/web`. */
export function workloadTitle(
  { kind, name }: { readonly kind: WorkloadKind; readonly name: string },
): string {
  return `${kind.toLowerCase()}/${name}`;
}
