/**
 * Watches services on the real node every tenth of a second and records the same series as the node
 * model's recorder, so that the same figures can be computed from both.
 *
 * @module
 */
import { listOf, objectOf } from "../../../adapters/kube/client/json_fields.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { parsePod } from "../../../adapters/kube/kinds/pods.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import { pause } from "../../../tests/cluster/scene/until.ts";
import { SERVICE_LABEL } from "./service_pod.ts";
import { createServicePods, type Growth, type ServicePods } from "./service_pods.ts";

/** The series of one service; one entry per tenth of a second. */
export interface ObservedService {
  /** Millicores in force at the end of the step, over all replicas. */
  readonly limit: Float32Array;
  /** Means over the step: millicores used, ms throttled per s. */
  readonly usage: Float32Array;
  readonly throttled: Float32Array;
  /** Totals, ms. */
  readonly total: Growth;
  /** Most replicas at a time. */
  readonly mostReplicas: number;
}

/** A service to watch. */
export interface WatchedService {
  readonly name: string;
  /** The original limit, millicores: the limit until the first quota is read. */
  readonly originalLimit: number;
}

/** The place and the time of a watch. */
export interface ObserveOptions {
  readonly connection: KubeConnection;
  /** The namespaces of the services. */
  readonly namespaces: readonly string[];
  /** CPUs of the node. */
  readonly cores: number;
  readonly seconds: number;
  /** Name of a pod's service. @default {the value of its label} */
  readonly serviceOf?: (pod: Pod) => string | undefined;
  /** When the run begins, ms of the wall clock; now or later. */
  readonly startMs: number;
  /** Called every half minute with the progress. */
  readonly onProgress?: (doneS: number) => void;
}

/** Entries of the record, and how often counters are read and pods are listed, ms. */
export const STEP_MS = 100;
const COUNT_EVERY = 10;
const LIST_MS = 500;
const PROGRESS_EVERY = 300;

/** Watches for these seconds; the result is in the order of the services. */
export async function observe(
  services: readonly WatchedService[],
  options: ObserveOptions,
): Promise<ObservedService[]> {
  const { connection, namespaces, cores, seconds, startMs, onProgress } = options;
  const { serviceOf = ({ metadata }: Pod) => metadata.labels[SERVICE_LABEL] } = options;
  const steps = Math.round(seconds * 1000 / STEP_MS);
  const now = (): number => performance.now();
  const tracks = services.map(({ name, originalLimit }) =>
    createTrack(createServicePods({ cores, now }), { name, originalLimit, steps })
  );
  const list = async (): Promise<void> => {
    const found = (await Promise.all(namespaces.map((name) => podsIn(connection, name)))).flat();
    for (const { name, pods } of tracks) {
      pods.join(found.filter((pod) => serviceOf(pod) === name));
    }
  };
  await list();
  const missing = tracks.find(({ pods }) => pods.count() === 0);
  if (missing !== undefined) throw new Error(`Cannot observe ${missing.name}: it does not run`);
  const over = new AbortController();
  const listing = listAgain(list, over.signal);
  try {
    const offset = startMs - Date.now() + now();
    await pause(Math.max(0, offset - now()));
    for (const track of tracks) track.pods.grow();
    for (let step = 0; step < steps; step++) {
      await pause(Math.max(0, offset + (step + 1) * STEP_MS - now()));
      for (const track of tracks) note(track, step);
      if ((step + 1) % PROGRESS_EVERY === 0) onProgress?.((step + 1) * STEP_MS / 1000);
    }
  } finally {
    over.abort();
    await listing;
  }
  return tracks.map(({ limit, usage, throttled, total, mostReplicas }) => ({
    limit,
    usage,
    throttled,
    total,
    mostReplicas,
  }));
}

interface Track {
  readonly name: string;
  readonly pods: ServicePods;
  readonly limit: Float32Array;
  readonly usage: Float32Array;
  readonly throttled: Float32Array;
  total: Growth;
  mostReplicas: number;
  lastLimit: number;
}

function createTrack(
  pods: ServicePods,
  { name, originalLimit, steps }: {
    readonly name: string;
    readonly originalLimit: number;
    readonly steps: number;
  },
): Track {
  return {
    name,
    pods,
    limit: new Float32Array(steps),
    usage: new Float32Array(steps),
    throttled: new Float32Array(steps),
    total: { usageMs: 0, throttledMs: 0 },
    mostReplicas: 0,
    lastLimit: originalLimit,
  };
}

function note(track: Track, step: number): void {
  const { pods, limit, usage, throttled } = track;
  track.lastLimit = pods.limit() ?? track.lastLimit;
  limit[step] = track.lastLimit;
  track.mostReplicas = Math.max(track.mostReplicas, pods.count());
  if ((step + 1) % COUNT_EVERY !== 0) return;
  const growth = pods.grow();
  const { total } = track;
  track.total = {
    usageMs: total.usageMs + growth.usageMs,
    throttledMs: total.throttledMs + growth.throttledMs,
  };
  const perSecond = 1000 / (COUNT_EVERY * STEP_MS);
  usage.fill(growth.usageMs * perSecond, step + 1 - COUNT_EVERY, step + 1);
  throttled.fill(growth.throttledMs * perSecond, step + 1 - COUNT_EVERY, step + 1);
}

async function listAgain(list: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await pause(LIST_MS);
    // The next list makes up for one that fails.
    if (!signal.aborted) await list().catch(() => {});
  }
}

async function podsIn(connection: KubeConnection, namespace: string): Promise<Pod[]> {
  const path = `/api/v1/namespaces/${namespace}/pods`;
  const answer = objectOf(await connection.request({ path }));
  return listOf(answer["items"]).map(parsePod);
}
