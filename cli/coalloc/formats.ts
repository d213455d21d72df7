/**
 * CPU, memory, durations, pods and workloads as the command prints them.
 *
 * @module
 */
import { InvalidArgumentError } from "commander";
import { countableCPU } from "../../shared/quantity.ts";
import { durationKind, kindMeta, valueOf } from "../../shared/config/kinds.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import type { NamespaceChoice } from "./ports.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";

/** What is not known. */
export const UNKNOWN = "-";

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
 * With three significant digits in the largest unit that there is one of: 88617123 is `84.5Mi`, 2^30 is
 * `1Gi`; `-` for what is not known.
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

/** What a span may be. */
export interface DurationRules {
  readonly leastMs: number;
  readonly mostMs: number;
  /** The remedy when the text is no duration, beside giving one. @default {undefined} */
  readonly remedy?: string;
}

/** A parser for commander of a span within bounds, ms; a bare number counts seconds. */
export function durationParser({ remedy, ...bounds }: DurationRules): (text: string) => number {
  const kind = durationKind(bounds);
  const advice = `Give ${kindMeta(kind).expects}${remedy === undefined ? "" : `; ${remedy}`}`;
  return (text) => {
    const value = valueOf(kind, /^\d+(\.\d+)?$/.test(text) ? `${text}s` : text);
    if (value === undefined) throw new InvalidArgumentError(advice);
    return value;
  };
}

/** Reads `pod`, `pod/pod` and `namespace/pod`; undefined for anything else. */
export function podArgument(
  text: string,
): { readonly namespace?: string; readonly name: string } | undefined {
  const [first = "", second, ...more] = text.replace(/^(pod|pods|po)\//, "").split("/");
  if (more.length > 0 || first === "" || second === "") return undefined;
  return second === undefined ? { name: first } : { namespace: first, name: second };
}

/** A name, and a kind where the argument has one. */
export interface WorkloadArgument {
  readonly kind?: WorkloadKind;
  readonly name: string;
}

/** The names that kubectl takes, with and without the group. */
const KINDS: ReadonlyMap<string, WorkloadKind> = new Map(
  ([
    ["Deployment", ["deployment", "deployments", "deploy"]],
    ["StatefulSet", ["statefulset", "statefulsets", "sts"]],
    ["DaemonSet", ["daemonset", "daemonsets", "ds"]],
  ] as const).flatMap(([kind, names]) =>
    names.flatMap((name): [string, WorkloadKind][] => [[name, kind], [`${name}.apps`, kind]])
  ),
);

/** Reads `web`, `deployment/web` and `deploy/web`; undefined for anything else. */
export function workloadArgument(text: string): WorkloadArgument | undefined {
  const [first = "", second, ...more] = text.split("/");
  if (more.length > 0 || first === "" || second === "") return undefined;
  if (second === undefined) return { name: first };
  const kind = KINDS.get(first.toLowerCase());
  return kind === undefined ? undefined : { kind, name: second };
}

/** The workload as commands take it: `deployment/web`. */
export function workloadTitle({ kind, name }: Required<WorkloadArgument>): string {
  return `${kind.toLowerCase()}/${name}`;
}

/** A parser of CPU quantities above 0, in millicores. */
export function cpuParser(mostCores?: number): (text: string) => number {
  const bound = mostCores === undefined ? "" : ` and up to ${mostCores}`;
  return (text) => {
    const millicores = countableCPU(text);
    if (
      millicores !== undefined && millicores > 0 && millicores <= (mostCores ?? Infinity) * 1000
    ) {
      return millicores;
    }
    throw new InvalidArgumentError(
      `Give a CPU quantity above 0${bound}, for instance 500m or 1.5`,
    );
  };
}

/** `namespace shop`; `the cluster` for all. */
export function placeOf(namespace: NamespaceChoice): string {
  return namespace.all ? "the cluster" : `namespace ${namespace.name}`;
}

/** The question after a workload that is not there: whether the nearest of the known ones is meant. */
export function nearestHint(
  name: string,
  known: readonly { readonly kind: WorkloadKind; readonly name: string }[],
): string {
  const nearest = nearestName(name, known.map((one) => one.name));
  const meant = known.find((one) => one.name === nearest);
  return meant === undefined ? "is -n right?" : `is it ${workloadTitle(meant)}?`;
}
