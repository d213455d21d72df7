/**
 * What runs, as data and as a table.
 *
 * @module
 */
import { component, COMPONENT_NAMES, type ComponentName } from "./component.ts";
import { readIfThere } from "./daemon.ts";
import { DEFAULT_NAME, type Instance, NETWORK } from "./instance.ts";
import { logFile, openProber, type Prober, runningComponent } from "./running_component.ts";

/** One component. */
export interface ComponentStatus {
  readonly name: ComponentName;
  readonly pid: number | null;
  /** Resident, in bytes; null when it does not run. */
  readonly memoryBytes: number | null;
  readonly ready: boolean;
  /** Why it is not ready, or empty. */
  readonly reason: string;
  readonly log: string;
}

/** A cluster. */
export interface ClusterStatus {
  readonly name: string;
  /** Whether all components and the node are ready. */
  readonly ready: boolean;
  readonly kubeconfig: string;
  readonly namespace: string;
  readonly etcd: string;
  readonly node: {
    readonly name: string;
    readonly ready: boolean;
    readonly reason: string;
    readonly allocatableCPU: string | null;
  };
  readonly components: readonly ComponentStatus[];
}

/** Asks all components and the node. Works inside the namespace. */
export async function clusterStatus(instance: Instance): Promise<ClusterStatus> {
  using prober = await openProber(instance);
  const components = await Promise.all(
    COMPONENT_NAMES.map((name) => componentStatus(instance, name, prober)),
  );
  const node = await prober.get(`/api/v1/nodes/${instance.nodeName}`).then(
    (object) => ({ object, reason: notReady(object) }),
    (error) => ({ object: undefined, reason: String(error) }),
  );
  return {
    name: instance.name,
    ready: components.every(({ ready }) => ready) && node.reason === undefined,
    kubeconfig: instance.kubeconfig,
    namespace: instance.namespace,
    etcd: NETWORK.etcd,
    node: {
      name: instance.nodeName,
      ready: node.reason === undefined,
      reason: node.reason ?? "",
      allocatableCPU: (node.object as RawNode | undefined)?.status?.allocatable?.cpu ?? null,
    },
    components,
  };
}

async function componentStatus(
  instance: Instance,
  name: ComponentName,
  prober: Prober,
): Promise<ComponentStatus> {
  const log = logFile(instance, name);
  const record = await runningComponent(instance, name);
  if (record === undefined) {
    return { name, pid: null, memoryBytes: null, ready: false, reason: "not running", log };
  }
  const { probe, statusProbe } = component(name, instance);
  const reason = await prober.ask(statusProbe ?? probe);
  return {
    name,
    pid: record.pid,
    memoryBytes: residentBytes(await readIfThere(`/proc/${record.pid}/status`) ?? ""),
    ready: reason === undefined,
    reason: reason ?? "",
    log,
  };
}

/** `VmRSS` of `/proc/PID/status` in bytes, or null. */
export function residentBytes(text: string): number | null {
  const match = /^VmRSS:\s+(\d+) kB$/m.exec(text);
  return match === null ? null : Number(match[1]) * 1024;
}

/** A command that reaches the cluster. */
export function execExample(name: string): string {
  const named = name === DEFAULT_NAME ? "" : `--name ${name} `;
  return `deno task cluster:exec ${named}-- kubectl get pods -A`;
}

/** The table for people. */
export function statusTable(status: ClusterStatus): string {
  const rows = status.components.map(({ name, pid, memoryBytes, ready, reason }) => [
    name,
    pid === null ? "-" : String(pid),
    memoryBytes === null ? "-" : `${Math.round(memoryBytes / 2 ** 20)} MiB`,
    ready ? "yes" : `no: ${reason}`,
  ]);
  const { node } = status;
  const nodeLine = node.ready
    ? `ready, ${node.allocatableCPU ?? "?"} CPUs allocatable`
    : `not ready: ${node.reason}`;
  return [
    ...aligned([["COMPONENT", "PID", "MEMORY", "READY"], ...rows]),
    "",
    `node        ${node.name}: ${nodeLine}`,
    `kubeconfig  ${status.kubeconfig} (inside the namespace ${status.namespace})`,
    `run in it   ${execExample(status.name)}`,
    "",
  ].join("\n");
}

function aligned(rows: readonly (readonly string[])[]): readonly string[] {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => row[column]?.length ?? 0))
  );
  return rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()
  );
}

/** The Node object, as far as it says whether the node takes pods. */
interface RawNode {
  readonly spec?: {
    readonly taints?: readonly { readonly key: string; readonly effect: string }[];
  };
  readonly status?: {
    readonly allocatable?: { readonly cpu?: string };
    readonly conditions?: readonly { type: string; status: string; message: string }[];
  };
}

/** `undefined` when the node is ready, otherwise the reason as a message. */
export function notReady(node: unknown): string | undefined {
  const { spec, status } = node as RawNode;
  const ready = status?.conditions?.find(({ type }) => type === "Ready");
  if (ready === undefined) return "the node has no condition Ready yet";
  if (ready.status !== "True") return ready.message;
  const taint = spec?.taints?.find(({ effect }) => effect !== "PreferNoSchedule");
  return taint === undefined ? undefined : `the node has the taint ${taint.key}`;
}
