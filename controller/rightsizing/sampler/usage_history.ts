/**
 * What workloads used, as far as it was seen and counts still.
 *
 * @module
 */
import {
  type ContainerRings,
  createContainerRings,
} from "../../../shared/rightsizing/container_rings.ts";
import type { ContainerUsage } from "../../../shared/rightsizing/distribution.ts";
import type { UsageQuestion, WorkloadIdentity } from "../ports.ts";
import { noSamples } from "../sources/collected_samples.ts";
import type { PodOwner, PodOwners, PodUsage } from "./ports.ts";

/** What is kept of one workload. */
export interface WorkloadHistory {
  readonly workload: WorkloadIdentity;
  readonly containers: Map<string, ContainerRings>;
}

/** What is kept of one namespace. */
export interface NamespaceHistory {
  /** By UID: one that was deleted and made again is another. */
  readonly workloads: Map<string, WorkloadHistory>;
  /** The latest time of a reading that was counted, ms since 1970. */
  newestMs: number;
  /** Whether anything has changed since it was written. */
  changed: boolean;
}

/** The history. */
export interface UsageHistory {
  /** By namespace. */
  readonly namespaces: Map<string, NamespaceHistory>;
  /** Counts a reading, unless it was counted before or is too old. */
  add(reading: PodUsage, options: { readonly owner: PodOwner; readonly nowMs: number }): void;
  /** What is known, of each container that is asked for. */
  usage(question: UsageQuestion, nowMs: number): ReadonlyMap<string, ContainerUsage>;
  /** Forgets workloads that are gone. */
  forgetGone(exists: PodOwners["exists"]): void;
  /** Forgets a namespace, and until when its readings were counted. */
  forgetNamespace(namespace: string): void;
  /** Forgets everything. */
  clear(): void;
}

/** Readings are some seconds old, and after this nobody knows any more which were counted. */
const OLDEST_MS = 600_000;

/** How much is kept. */
export interface HistoryOptions {
  /** Parts of a window, as of `RingShape`. @default {16} */
  readonly slots?: number;
}

/** A history without anything in it. */
// deno-lint-ignore house/function-length
export function createUsageHistory({ slots }: HistoryOptions = {}): UsageHistory {
  const namespaces = new Map<string, NamespaceHistory>();
  /** Times of the last readings of pods, by namespace and pod. */
  const lastMs = new Map<string, number>();
  /** What stood in the checkpoint of a namespace: readings until then were counted in another life. */
  const countedMs = new Map<string, number>();

  function namespaceOf(namespace: string): NamespaceHistory {
    let known = namespaces.get(namespace);
    if (known === undefined) {
      known = { workloads: new Map(), newestMs: 0, changed: false };
      namespaces.set(namespace, known);
    }
    return known;
  }

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

  function isCounted({ namespace, pod, timeMs }: PodUsage): boolean {
    const last = lastMs.get(`${namespace}/${pod}`);
    if (last !== undefined) return timeMs <= last;
    let counted = countedMs.get(namespace);
    if (counted === undefined) {
      // Before the first reading of this life it is what the checkpoint says, or nothing.
      counted = namespaces.get(namespace)?.newestMs ?? 0;
      countedMs.set(namespace, counted);
    }
    return timeMs <= counted;
  }

  function forgetTimes(nowMs: number): void {
    for (const [key, timeMs] of lastMs) {
      if (timeMs < nowMs - OLDEST_MS) lastMs.delete(key);
    }
  }

  return {
    namespaces,
    add(reading, { owner, nowMs }) {
      const { namespace, pod, timeMs } = reading;
      if (timeMs <= nowMs - OLDEST_MS || isCounted(reading)) return;
      if (lastMs.size > 2 * MOST_TIMES_KEPT) forgetTimes(nowMs);
      lastMs.set(`${namespace}/${pod}`, timeMs);
      const kept = namespaceOf(namespace);
      const { workload, containers, windowMs } = owner;
      const history = kept.workloads.get(workload.uid) ?? { workload, containers: new Map() };
      kept.workloads.set(workload.uid, history);
      kept.changed = true;
      // A node's clock may be ahead: nothing was measured later than now.
      const atMs = Math.min(timeMs, nowMs);
      kept.newestMs = Math.max(kept.newestMs, timeMs);
      for (const { name, cpu, memory } of reading.containers) {
        if (!containers.includes(name)) continue;
        const rings = ringsOf(history, { name, windowMs, nowMs });
        rings.cpu.add({ atMs, value: cpu }, nowMs);
        rings.memory.add({ atMs, value: memory }, nowMs);
      }
    },
    usage({ namespace, workload, containers, window }, nowMs) {
      const known = namespaces.get(namespace)?.workloads.get(workload.uid)?.containers;
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
    forgetGone(exists) {
      for (const [namespace, kept] of namespaces) {
        for (const uid of kept.workloads.keys()) {
          if (exists({ namespace, uid })) continue;
          kept.workloads.delete(uid);
          kept.changed = true;
        }
      }
    },
    forgetNamespace(namespace) {
      namespaces.delete(namespace);
      countedMs.delete(namespace);
    },
    clear() {
      namespaces.clear();
      lastMs.clear();
      countedMs.clear();
    },
  };
}

/** Times of pods that are gone are swept out when there are more than this. */
const MOST_TIMES_KEPT = 10_000;
