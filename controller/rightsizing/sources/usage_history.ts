/**
 * The sampled usage of workloads within their windows.
 *
 * @module
 */
import * as z from "zod";
import type { PersistedMap } from "../../../shared/control/persisted_map.ts";
import type { ContainerUsage } from "../../../shared/rightsizing/distribution.ts";
import {
  type ContainerRings,
  createContainerRings,
  restoredRings,
  storedRings,
  storedRingsSchema,
} from "../../../shared/rightsizing/usage_ring.ts";
import type { UsageQuestion, WorkloadIdentity } from "../ports.ts";
import { noSamples } from "./collected_samples.ts";
import type { PodOwner, PodOwners, PodUsage } from "./pod_owners.ts";

/** What is kept of one workload. */
export interface WorkloadHistory {
  readonly workload: WorkloadIdentity;
  readonly namespace: string;
  /** The latest time of a reading that was counted, ms since 1970. */
  newestMs: number;
  readonly containers: Map<string, ContainerRings>;
}

/** Histories by UID of the workload: one that was deleted and made again is another. */
export type KeptHistories = Pick<
  PersistedMap<WorkloadHistory>,
  "get" | "set" | "delete" | "entries"
>;

/** The history. */
export interface UsageHistory {
  /** Counts a reading, unless it was counted before or is too old. */
  add(reading: PodUsage, options: { readonly owner: PodOwner; readonly nowMs: number }): void;
  /** Usage of each container that the question names. */
  usage(question: UsageQuestion, nowMs: number): ReadonlyMap<string, ContainerUsage>;
  /** Deletes workloads that are deleted. */
  deleteGone(exists: PodOwners["exists"]): void;
  /** Begins after a load: an earlier process has counted what is kept. */
  begin(): void;
}

/** Older readings are not counted: by then the times of counted ones are removed. */
const OLDEST_MS = 600_000;

/** Times of deleted pods are removed when there are more than this. */
const MOST_TIMES_KEPT = 10_000;

/** How much is kept. */
export interface HistoryOptions {
  /** Parts of a window, as of `RingShape`. @default {16} */
  readonly slots?: number;
}

/** A history of what is kept already. */
export function createUsageHistory(
  kept: KeptHistories,
  { slots }: HistoryOptions = {},
): UsageHistory {
  /** Times of the last readings of pods, by namespace and pod. */
  const lastMs = new Map<string, number>();
  /** By UID of the workload, until when an earlier process has counted readings. */
  const countedMs = new Map<string, number>();

  /** The rings of a container, with its owner's window by now. */
  function ringsOf(
    { containers }: WorkloadHistory,
    { name, windowMs, nowMs }: {
      readonly name: string;
      readonly windowMs: number;
      readonly nowMs: number;
    },
  ): ContainerRings {
    const known = containers.get(name);
    if (known?.cpu.windowMs === windowMs) return known;
    const rings = createContainerRings(slots === undefined ? { windowMs } : { windowMs, slots });
    if (known !== undefined) {
      rings.cpu.absorb(known.cpu.contents(), nowMs);
      rings.memory.absorb(known.memory.contents(), nowMs);
    }
    containers.set(name, rings);
    return rings;
  }

  function isCounted({ namespace, pod, timeMs }: PodUsage, uid: string): boolean {
    const last = lastMs.get(`${namespace}/${pod}`) ?? countedMs.get(uid) ?? 0;
    return timeMs <= last;
  }

  return {
    add(reading, { owner: { workload, containers, windowMs }, nowMs }) {
      const { namespace, pod, timeMs } = reading;
      if (timeMs <= nowMs - OLDEST_MS || isCounted(reading, workload.uid)) return;
      if (lastMs.size > 2 * MOST_TIMES_KEPT) deleteBefore(lastMs, nowMs - OLDEST_MS);
      lastMs.set(`${namespace}/${pod}`, timeMs);
      const history = kept.get(workload.uid) ??
        { workload, namespace, newestMs: 0, containers: new Map() };
      // A node's clock may be ahead: nothing was measured later than now.
      const atMs = Math.min(timeMs, nowMs);
      history.newestMs = Math.max(history.newestMs, timeMs);
      kept.set(workload.uid, history);
      for (const { name, cpu, memory } of reading.containers) {
        if (!containers.includes(name)) continue;
        const rings = ringsOf(history, { name, windowMs, nowMs });
        rings.cpu.add({ atMs, value: cpu }, nowMs);
        rings.memory.add({ atMs, value: memory }, nowMs);
      }
    },
    usage({ workload, containers, window }, nowMs) {
      const known = kept.get(workload.uid)?.containers;
      const endMs = Math.max(nowMs, window.toMs);
      const nothing = noSamples(window);
      return new Map(containers.map((container) => {
        const rings = known?.get(container);
        if (rings === undefined) return [container, { container, cpu: nothing, memory: nothing }];
        const windowMs = Math.min(window.toMs - window.fromMs, rings.cpu.windowMs);
        const at = { nowMs: endMs, windowMs };
        const [cpu, memory] = [rings.cpu.distribution(at), rings.memory.distribution(at)];
        return [container, { container, cpu, memory }];
      }));
    },
    deleteGone(exists) {
      for (const [uid, { namespace }] of kept.entries()) {
        if (exists({ namespace, uid })) continue;
        kept.delete(uid);
        countedMs.delete(uid);
      }
    },
    begin() {
      lastMs.clear();
      countedMs.clear();
      for (const [uid, { newestMs }] of kept.entries()) countedMs.set(uid, newestMs);
    },
  };
}

function deleteBefore(times: Map<string, number>, sinceMs: number): void {
  for (const [key, timeMs] of times) if (timeMs < sinceMs) times.delete(key);
}

const storedSchema = z.object({
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]),
  namespace: z.string().min(1),
  name: z.string().min(1),
  uid: z.string().min(1),
  windowMs: z.number().int().min(1),
  newestMs: z.number().min(0),
  containers: z.record(z.string(), storedRingsSchema),
});

/** A history as JSON. */
export function storedHistory(
  { workload: { kind, name, uid }, namespace, newestMs, containers }: WorkloadHistory,
): unknown {
  const stored = Array.from(containers, ([container, rings]) => [container, storedRings(rings)]);
  // All rings of a workload have the window of its policy.
  const [rings] = containers.values();
  const windowMs = rings?.cpu.windowMs;
  return { kind, namespace, name, uid, windowMs, newestMs, containers: Object.fromEntries(stored) };
}

/** Reads what {@linkcode storedHistory} makes. Throws a `SyntaxError` for anything else. */
export function readHistory(
  stored: unknown,
  { nowMs, slots }: HistoryOptions & { readonly nowMs: number },
): WorkloadHistory {
  const { success, data, error } = storedSchema.safeParse(stored);
  if (!success) throw new SyntaxError(`Cannot read usage history: ${z.prettifyError(error)}`);
  const { kind, namespace, name, uid, windowMs, newestMs } = data;
  const shape = slots === undefined ? { windowMs } : { windowMs, slots };
  const containers = Object.entries(data.containers).map(([container, rings]) =>
    [container, restoredRings(rings, { shape, nowMs })] as const
  );
  return {
    workload: { kind, name, uid },
    namespace,
    newestMs: Math.min(newestMs, nowMs),
    containers: new Map(containers),
  };
}
