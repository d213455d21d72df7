/**
 * CPU, durations, pods and workloads in the command's arguments.
 *
 * @module
 */
import { workloadTitle } from "../../shared/view/figures.ts";
import { InvalidArgumentError } from "commander";
import { countableCPU } from "../../shared/quantity.ts";
import { durationKind, kindMeta, valueOf } from "../../shared/config/kinds.ts";
import { nearestName } from "../../shared/nearest_name.ts";
import type { NamespaceChoice } from "./ports.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";

/**
 * A parser for commander of a duration within bounds, ms; a bare number counts seconds. `remedy` follows
 * the expected durations in the error.
 */
export function durationParser(
  { remedy, ...bounds }: {
    readonly minMs: number;
    readonly maxMs: number;
    readonly remedy?: string;
  },
): (text: string) => number {
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

/** A parser of CPU quantities above 0, in millicores. */
export function cpuParser(maxCores = Infinity): (text: string) => number {
  const bound = maxCores === Infinity ? "" : ` and up to ${maxCores}`;
  return (text) => {
    const millicores = countableCPU(text) ?? 0;
    if (millicores > 0 && millicores <= maxCores * 1000) return millicores;
    throw new InvalidArgumentError(
      `Give a CPU quantity above 0${bound}, for instance 500m or 1.5`,
    );
  };
}

/** `namespace shop`; `the cluster` for all. */
export function placeOf(namespace: NamespaceChoice): string {
  return namespace.all ? "the cluster" : `namespace ${namespace.name}`;
}

/** Asks whether the user means the known workload with the nearest name. */
export function nearestHint(
  name: string,
  known: readonly { readonly kind: WorkloadKind; readonly name: string }[],
): string {
  const nearest = nearestName(name, known.map((one) => one.name));
  const meant = known.find((one) => one.name === nearest);
  return meant === undefined ? "is -n right?" : `is it ${workloadTitle(meant)}?`;
}
