/**
 * The usage history of workloads that are sampled from metrics-server.
 *
 * @module
 */
import * as z from "zod";
import type { KubePodUsage } from "../../../../adapters/kube/kinds/pod_metrics.ts";
import type { PersistedMap } from "../../../../shared/control/persisted_map.ts";
import type { ContainerUsage } from "../../../../shared/rightsizing/distribution.ts";
import {
  type ContainerRings,
  createContainerRings,
  restoredRings,
  storedRings,
  storedRingsSchema,
} from "../../../../shared/rightsizing/usage_ring.ts";
import type { UsageQuery } from "../../ports.ts";
import { noSamples } from "../collected_samples.ts";
import type { PodOwner } from "./sampled_pods.ts";

/** The usage of one workload. */
export interface WorkloadHistory {
  /** The latest time of a reading that was counted, ms since 1970. */
  newestMs: number;
  /** Until when an earlier process has counted readings, ms since 1970; 0: none has. */
  readonly countedMs: number;
  readonly containers: Map<string, ContainerRings>;
}

/** Histories by UID of the workload: one that was deleted and created again is another. */
export type HistoryMap = Pick<
  PersistedMap<WorkloadHistory>,
  "get" | "set" | "delete" | "entries"
>;

/** Older readings are not counted, ms: whether one was counted before may be unknown by then. */
const OLDEST_MS = 600_000;
/** Above this number of entries, times of pods without recent readings are deleted. */
const MOST_TIMES_KEPT = 20_000;

/** Counts readings, and answers queries. */
export class UsageHistory {
  readonly #histories: HistoryMap;
  readonly #slots: number;
  /** Times of the last readings of pods, by namespace and pod. */
  readonly #lastMs = new Map<string, number>();

  /** `slots`: parts of a window, see `RingShape`. */
  constructor(histories: HistoryMap, slots: number) {
    this.#histories = histories;
    this.#slots = slots;
  }

  /** Counts a reading, unless it was counted before or is too old. */
  add(
    { namespace, pod, timeMs, containers }: KubePodUsage,
    { owner, nowMs }: { readonly owner: PodOwner; readonly nowMs: number },
  ): void {
    const history = this.#histories.get(owner.uid) ??
      { newestMs: 0, countedMs: 0, containers: new Map() };
    const lastMs = this.#lastMs.get(`${namespace}/${pod}`) ?? history.countedMs;
    if (timeMs <= nowMs - OLDEST_MS || timeMs <= lastMs) return;
    if (this.#lastMs.size > MOST_TIMES_KEPT) {
      for (const [key, ms] of this.#lastMs) if (ms < nowMs - OLDEST_MS) this.#lastMs.delete(key);
    }
    this.#lastMs.set(`${namespace}/${pod}`, timeMs);
    history.newestMs = Math.max(history.newestMs, timeMs);
    this.#histories.set(owner.uid, history);
    // A node's clock may be ahead: nothing was measured later than now.
    const atMs = Math.min(timeMs, nowMs);
    for (const { name, cpu, memory } of containers) {
      if (!owner.containers.includes(name)) continue;
      const rings = this.#ringsOf(history, name, { windowMs: owner.windowMs, nowMs });
      rings.cpu.add({ atMs, value: cpu }, nowMs);
      rings.memory.add({ atMs, value: memory }, nowMs);
    }
  }

  /** Usage of each container that the query names. */
  usage(
    { workload, containers, window }: UsageQuery,
    nowMs: number,
  ): ReadonlyMap<string, ContainerUsage> {
    const known = this.#histories.get(workload.uid)?.containers;
    return new Map(containers.map((container) => {
      const rings = known?.get(container);
      if (rings === undefined) {
        return [container, { container, cpu: noSamples(window), memory: noSamples(window) }];
      }
      const windowMs = Math.min(window.toMs - window.fromMs, rings.cpu.windowMs);
      const at = { nowMs: Math.max(nowMs, window.toMs), windowMs };
      const [cpu, memory] = [rings.cpu.distribution(at), rings.memory.distribution(at)];
      return [container, { container, cpu, memory }];
    }));
  }

  /** Deletes workloads with other UIDs. */
  keepOnly(uids: ReadonlySet<string>): void {
    for (const [uid] of this.#histories.entries()) if (!uids.has(uid)) this.#histories.delete(uid);
  }

  /** The rings of a container with its owner's present window. */
  #ringsOf(
    { containers }: WorkloadHistory,
    name: string,
    { windowMs, nowMs }: { readonly windowMs: number; readonly nowMs: number },
  ): ContainerRings {
    const known = containers.get(name);
    if (known?.cpu.windowMs === windowMs) return known;
    const rings = createContainerRings({ windowMs, slots: this.#slots });
    if (known !== undefined) {
      rings.cpu.absorb(known.cpu.contents(), nowMs);
      rings.memory.absorb(known.memory.contents(), nowMs);
    }
    containers.set(name, rings);
    return rings;
  }
}

const storedSchema = z.object({
  windowMs: z.number().int().min(1),
  newestMs: z.number().min(0),
  containers: z.record(z.string(), storedRingsSchema),
});

/** A history as JSON. */
export function storedHistory({ newestMs, containers }: WorkloadHistory): unknown {
  const stored = Array.from(containers, ([container, rings]) => [container, storedRings(rings)]);
  // All rings of a workload have the window of its policy.
  const [rings] = containers.values();
  const windowMs = rings?.cpu.windowMs;
  return { windowMs, newestMs, containers: Object.fromEntries(stored) };
}

/** Parses the result of {@linkcode storedHistory}. Throws a `SyntaxError` for anything else. */
export function readHistory(
  stored: unknown,
  { nowMs, slots }: { readonly nowMs: number; readonly slots: number },
): WorkloadHistory {
  const { success, data, error } = storedSchema.safeParse(stored);
  if (!success) throw new SyntaxError(`Cannot read usage history: ${z.prettifyError(error)}`);
  const shape = { windowMs: data.windowMs, slots };
  const newestMs = Math.min(data.newestMs, nowMs);
  return {
    newestMs,
    countedMs: newestMs,
    containers: new Map(
      Object.entries(data.containers).map(([container, rings]) =>
        [container, restoredRings(rings, { shape, nowMs })] as const
      ),
    ),
  };
}
