/**
 * Watches the pods of a run by their cgroups.
 *
 * @module
 */
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import {
  type CPUAccount,
  cpuAccount,
  type PodDirectories,
  podDirectories,
  quotaOf,
} from "../../../tests/cluster/scene/node_cgroups.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";
import { CONTAINER, SERVICE_LABEL } from "./apps.ts";

/** The two halves of a run. */
export const PHASES = ["alone", "neighbour"] as const;

/** One of them. */
export type Phase = (typeof PHASES)[number];

/** What became of an app, over all its replicas. */
export interface ObservedApp {
  mostReplicas: number;
  /** Growth in each phase, ms. */
  readonly growth: Readonly<Record<Phase, Record<keyof CPUAccount, number>>>;
  /** Changes of the limit in force, millicores; the CPUs of the node for no limit. */
  readonly changes: { readonly atS: number; readonly from: number; readonly to: number }[];
}

/** The place and the time of a watch. */
export interface ObserveOptions {
  readonly connection: KubeConnection;
  readonly namespace: string;
  /** When the run begins, ms of the wall clock. */
  readonly startMs: number;
  readonly seconds: number;
  /** Called every half minute with the progress. */
  readonly onProgress: (doneS: number) => void;
}

interface Replica {
  readonly app: string;
  readonly directories: PodDirectories;
  account: CPUAccount;
}

const STEP_MS = 100;
/** Steps between two lists of the pods, two looks at counters, and two signs of progress. */
const EVERY = { list: 5, count: 10, progress: 300 } as const;
const NODE_MILLICORES = 1000 * navigator.hardwareConcurrency;

/** Watches until the run is over; the result is by the names of apps. */
export async function observe(options: ObserveOptions): Promise<ReadonlyMap<string, ObservedApp>> {
  const { startMs, seconds, onProgress } = options;
  const replicas = new Map<string, Replica>();
  const seen = new Map<string, ObservedApp>();
  const limits = new Map<string, number>();
  const steps = 1000 * seconds / STEP_MS;
  for (let step = 0; step <= steps; step++) {
    await pause(Math.max(0, startMs + step * STEP_MS - Date.now()));
    // The next list makes up for one that fails or is late.
    if (step % EVERY.list === 0) void join(replicas, options).catch(() => {});
    const now = new Map<string, number>();
    const count = new Map<string, number>();
    for (const [uid, { app, directories }] of replicas) {
      const limit = orGone(() => limitOf(directories));
      if (limit === undefined) {
        replicas.delete(uid);
        continue;
      }
      now.set(app, (now.get(app) ?? 0) + limit);
      count.set(app, (count.get(app) ?? 0) + 1);
    }
    for (const [app, to] of now) {
      const observed = seen.get(app) ?? unseen();
      seen.set(app, observed);
      observed.mostReplicas = Math.max(observed.mostReplicas, count.get(app) ?? 0);
      const from = limits.get(app) ?? to;
      if (Math.abs(to - from) > 0.5) {
        observed.changes.push({ atS: step * STEP_MS / 1000, from, to });
      }
      limits.set(app, to);
    }
    if (step % EVERY.count === 0) grow(replicas, { seen, phase: step <= steps / 2 ? 0 : 1 });
    if (step > 0 && step % EVERY.progress === 0) onProgress(step * STEP_MS / 1000);
  }
  return seen;
}

function unseen(): ObservedApp {
  const none = () => ({ usageMs: 0, throttledMs: 0 });
  return { mostReplicas: 0, growth: { alone: none(), neighbour: none() }, changes: [] };
}

/** Adds pods that run and are new. */
async function join(
  replicas: Map<string, Replica>,
  { connection, namespace }: ObserveOptions,
): Promise<void> {
  const list = await connection.request({ path: `/api/v1/namespaces/${namespace}/pods` });
  for (const pod of listOf(objectOf(list)["items"]).map(parsePod)) {
    const { uid, labels } = pod.metadata;
    if (replicas.has(uid) || pod.phase !== "Running") continue;
    const directories = orGone(() => podDirectories(pod));
    const account = directories && orGone(() => cpuAccount(directories));
    if (account === undefined || !directories?.containers.has(CONTAINER)) continue;
    replicas.set(uid, { app: labels[SERVICE_LABEL] ?? "", directories, account });
  }
}

/** Of pod and container the smaller quota, millicores. */
function limitOf({ version, pod, containers }: PodDirectories): number {
  return Math.min(
    ...[pod, containers.get(CONTAINER) ?? pod]
      .map((directory) => quotaOf(directory, version) ?? NODE_MILLICORES),
  );
}

function grow(
  replicas: ReadonlyMap<string, Replica>,
  { seen, phase }: { readonly seen: ReadonlyMap<string, ObservedApp>; readonly phase: 0 | 1 },
): void {
  for (const replica of replicas.values()) {
    const account = orGone(() => cpuAccount(replica.directories));
    const growth = seen.get(replica.app)?.growth[PHASES[phase]];
    if (account === undefined || growth === undefined) continue;
    growth.usageMs += account.usageMs - replica.account.usageMs;
    growth.throttledMs += account.throttledMs - replica.account.throttledMs;
    replica.account = account;
  }
}

/** Undefined for a cgroup that is gone or going. */
function orGone<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** Begins to count; the result reports the CPUs of the machine that were busy since, in the mean. */
export function measureMachine(): () => number {
  // Columns: user, nice, system, idle, iowait, irq, softirq, steal, in hundredths of a second.
  const busyMs = (): number => {
    const [, text = ""] = /^cpu +(.*)$/m.exec(Deno.readTextFileSync("/proc/stat")) ?? [];
    const [user = 0, nice = 0, system = 0, , , ...rest] = text.split(" ").slice(0, 8).map(Number);
    return 10 * rest.reduce((sum, ticks) => sum + ticks, user + nice + system);
  };
  const [before, sinceMs] = [busyMs(), performance.now()];
  return () => (busyMs() - before) / (performance.now() - sinceMs);
}
