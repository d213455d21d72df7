/**
 * A workload as a user writes it.
 *
 * @module
 */
import type { WorkloadKind } from "../../shared/api/workload.ts";

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
