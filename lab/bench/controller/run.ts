/**
 * The pods of the benchmark, on a node that is an object only: nothing runs there, and the benchmark
 * reports the status that a kubelet would. And the controller under measurement: its whole program in
 * this process, on the real API server.
 *
 * @module
 */
import { Registry } from "prom-client";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { createDesiredWriter } from "../../../adapters/kube/writers/allocation_writers.ts";
import { createInstantQueries } from "../../../adapters/prometheus/instant_queries.ts";
import { systemClock } from "../../../adapters/system_clock.ts";
import { connectControllerAPI } from "../../../controller/controller_api.ts";
import { createLiveSettings } from "../../../controller/live_settings.ts";
import { createParts } from "../../../controller/parts.ts";
import { runController } from "../../../controller/run_controller.ts";
import { CONTROLLER_SETTINGS } from "../../../controller/settings.ts";
import type { Desired, PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { effectiveSettings } from "../../../shared/config/load.ts";
import { silentLog } from "../../../shared/log.ts";
import { formatCPU } from "../../../shared/quantity.ts";
import { sampleDesired } from "../../../tests/contract/support/sample_objects.ts";
import { until } from "../../../tests/cluster/scene/until.ts";
import { parseIdentity } from "../../../adapters/kube/kinds/object_fields.ts";
import { podPath, type RealNode } from "../../../tests/cluster/scene/real_node.ts";

/** The node that is an object only. */
export const BENCH_NODE = "bench-controller-node";
const NODE = `/api/v1/nodes/${BENCH_NODE}`;

/** The namespace of the controller's installation; the market leaves its pods alone. */
export const INSTALLATION = "default";

/** The original limit of each pod, millicores. */
const ORIGINAL_LIMIT = 200;
/** Requests at the same time. */
export const AT_ONCE = 8;

/** Where the pods are. */
export interface BenchPods {
  readonly api: RealNode;
  readonly namespace: string;
  readonly count: number;
}

/** Name of the n-th pod. */
export function podName(index: number): string {
  return `pod-${index}`;
}

/** Calls `work` with 0 to `count` − 1, some at a time. */
export async function forAll(
  count: number,
  work: (index: number) => Promise<unknown>,
): Promise<void> {
  let next = 0;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (let index = next++; index < count; index = next++) await work(index);
  }));
}

/** Makes node and pods; the result has the pods' UIDs. */
export async function createPods(bench: BenchPods): Promise<string[]> {
  const { api, namespace, count } = bench;
  const spec = { taints: [TAINT] };
  await api.create("/api/v1/nodes", { metadata: { name: BENCH_NODE }, spec });
  await beatNode(bench);
  const uids: string[] = [];
  await forAll(count, async (index) => {
    const created = await api.create(`/api/v1/namespaces/${namespace}/pods`, {
      metadata: { name: podName(index) },
      spec: {
        nodeName: BENCH_NODE,
        automountServiceAccountToken: false,
        tolerations: [{ operator: "Exists" }],
        containers: [{ name: "app", image: "none", resources: resources(ORIGINAL_LIMIT) }],
      },
    });
    uids[index] = parseIdentity(created).uid;
    await reportLimit(bench, { index, limitCPU: ORIGINAL_LIMIT });
  });
  return uids;
}

const TAINT = { key: "bench", effect: "NoSchedule" };

function resources(limitCPU: number): Readonly<Record<"requests" | "limits", object>> {
  return {
    requests: { cpu: "100m", memory: "16Mi" },
    limits: { cpu: formatCPU(limitCPU), memory: "32Mi" },
  };
}

/** Removes the node; the pods go with their namespace. */
export async function removeNode({ api }: BenchPods): Promise<void> {
  await api.remove(NODE);
}

/** The node's sign of life: without one for 40 s the node would no longer count as Ready. */
export async function beatNode({ api, count }: BenchPods): Promise<void> {
  const room = { cpu: String(count), memory: "1Ti", pods: String(count + 10) };
  const lastHeartbeatTime = new Date().toISOString();
  const conditions = [{ type: "Ready", status: "True", reason: "Bench", lastHeartbeatTime }];
  await api.merge(`${NODE}/status`, { status: { allocatable: room, capacity: room, conditions } });
}

/** Reports the limit as a kubelet would once it is in the cgroup. */
export async function reportLimit(
  { api, namespace }: BenchPods,
  { index, limitCPU }: { readonly index: number; readonly limitCPU: number },
): Promise<void> {
  const { requests, limits } = resources(limitCPU);
  const container = {
    name: "app",
    containerID: `containerd://${String(index).padStart(64, "0")}`,
    image: "none",
    imageID: "none",
    ready: true,
    started: true,
    restartCount: 0,
    state: { running: { startedAt: "2026-01-01T00:00:00Z" } },
    allocatedResources: requests,
    resources: { requests, limits },
  };
  await api.merge(`${podPath({ namespace, name: podName(index) })}/status`, {
    status: {
      phase: "Running",
      conditions: [{ type: "Ready", status: "True" }],
      containerStatuses: [container],
    },
  });
}

/** A controller that runs. */
export interface MeasuredController {
  /** Its copy of the benchmark's allocations. */
  allocations(): readonly PodAllocation[];
  /** Names of the pods with resizes that were answered since the last call. */
  takeResizes(): string[];
  /** Number of its writes so far, without those of Leases. */
  readonly writes: () => number;
  /** Everything but the patch, or that too. */
  setDryRun(dryRun: boolean): void;
  /** Writes this limit into all allocations, as the agent would; resolves when the copy has them. */
  want(limitCPU: number): Promise<void>;
  end(): Promise<unknown>;
}

/** Starts it in a dry run, for the namespace that opts in, the benchmark's. */
export function startController({ api: { connection }, namespace }: BenchPods): MeasuredController {
  let writes = 0;
  const file = settingsFile(true);
  const effective = effectiveSettings(CONTROLLER_SETTINGS, { ...SOURCES, file });
  if ("faults" in effective) throw new Error(`Cannot start: ${effective.faults.join("; ")}`);
  const log = silentLog;
  const clock = systemClock;
  const random = { next: () => Math.random() };
  const settings = createLiveSettings({ settings: effective, sources: SOURCES }, log);
  const identity = "bench";
  const resizes: string[] = [];
  const counted = watched(connection, { onWrite: () => writes++, resizes });
  const api = connectControllerAPI(counted, {
    ...settings.values(),
    clock,
    log,
    random,
    identity,
    settings: settings.values,
  });
  const shared = { api, settings, clock, log, random };
  const parts = createParts({ ...shared, registry: new Registry() });
  const stop = new AbortController();
  const run = runController({
    ...shared,
    ...parts,
    instantQueries: createInstantQueries({ program: "bench" }),
    identity,
    waitsFor: () => {},
  }, stop.signal);
  const writer = createDesiredWriter(connection);
  const allocations = () => parts.caches.allocations.byIndex(namespace);

  return {
    allocations,
    takeResizes: () => resizes.splice(0),
    writes: () => writes,
    setDryRun: (dryRun) => settings.takeFile(settingsFile(dryRun)),
    async want(limitCPU) {
      const before = allocations();
      const cpuLimit = formatCPU(limitCPU);
      await forAll(before.length, async (index) => {
        const allocation = before[index];
        if (allocation !== undefined) {
          await writer.writeDesired(allocation.metadata, desired(allocation, cpuLimit));
        }
      });
      await untilTrue(
        "copy with the new limits",
        () => allocations().every(({ spec }) => spec.desiredCPULimit === cpuLimit),
      );
    },
    end() {
      stop.abort();
      return run;
    },
  };
}

const SOURCES = {
  flags: new Map([
    ["--config-map", ""],
    ["--management-policy", "OptIn"],
    ["--max-resizes-per-second", "10000"],
    ["--max-new-allocations-per-second", "10000"],
    ["--namespace", INSTALLATION],
  ]),
};

/** Waits in short steps, so that the wait adds little to what is timed. */
export async function untilTrue(what: string, condition: () => boolean): Promise<void> {
  await until(what, () => condition() || undefined, { timeoutMs: 60_000, everyMs: 2 });
}

function settingsFile(dryRun: boolean): { path: string; text: string } {
  return { path: "bench", text: `controller: {dryRun: ${dryRun}}` };
}

function desired({ status }: PodAllocation, cpuLimit: string): Desired {
  const { market, ...desired } = sampleDesired(cpuLimit);
  const observedBounds = status?.bounds?.revision ?? 0;
  const clearedAt = new Date().toISOString();
  return { ...desired, ...market && { market: { ...market, observedBounds, clearedAt } } };
}

/** The connection, which reports each write but those of Leases, and the pods that are resized. */
function watched(
  connection: KubeConnection,
  { onWrite, resizes }: {
    readonly onWrite: () => void;
    readonly resizes: string[];
  },
): KubeConnection {
  return {
    async request(request) {
      const { method = "GET", path } = request;
      if (method !== "GET" && !path.includes("/leases/")) onWrite();
      const answer = await connection.request(request);
      const [, name] = /\/pods\/([^/]+)\/resize$/.exec(path) ?? [];
      if (name !== undefined) resizes.push(name);
      return answer;
    },
    lines: (request) => connection.lines(request),
  };
}
