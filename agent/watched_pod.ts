/**
 * What is known of one pod between two looks: its cgroups, their last readings, its samples.
 *
 * @module
 */
import {
  type CgroupFiles,
  cgroupFiles,
  type RequestReading,
} from "../shared/cgroup/cgroup_files.ts";
import { type LevelMemory, NO_LEVEL_MEMORY } from "../shared/cgroup/held_back.ts";
import type { CgroupLayout } from "../shared/cgroup/layout.ts";
import type { ContainerCgroup, PodCgroup } from "../shared/cgroup/pod_cgroups.ts";
import { DEFAULT_PERIOD_MS } from "../shared/cgroup/quota.ts";
import type { Reading } from "../shared/cgroup/reading.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import { createUsageWindow, type UsageWindow } from "../shared/cgroup/usage_window.ts";

/** Renewed in place: a thousand of them a second would be garbage. */
export type Writable<T> = { -readonly [Key in keyof T]: T[Key] };

/** A cgroup of either level. */
export interface WatchedCgroup {
  readonly files: CgroupFiles;
  readonly window: UsageWindow;
  /** Absent before the first look and after one that found nothing. */
  previous?: Writable<Reading> | undefined;
  /** Whether `previous` carries a part that was inferred, not read: see `pod_look.ts`. */
  inferred: boolean;
  /** What its weight says; absent when it could not be read. */
  request?: RequestReading | undefined;
}

/** A container's cgroup. */
export interface WatchedContainer extends WatchedCgroup {
  readonly id: string;
  /** Whether it lies outside of its pod's cgroup, where the pod's counters miss it. */
  readonly stray: boolean;
  /** When it was found, monotonic milliseconds. */
  readonly foundAt: number;
  /** Millicores now; absent when it has none. */
  quota?: number | undefined;
  /** The quota's enforcement period. */
  periodMs: number;
  /** Whether the last interval told that its quota was far away. */
  calm: boolean;
  /** When it was last seen throttled, monotonic milliseconds. */
  throttledAt: number;
  /** Milliseconds: see `held_back.ts`. */
  roomMs: number;
  /** Of the newest pair of readings that could be trusted. */
  sample?: ContainerSample | undefined;
}

/** A pod's answer to the question who takes part in it. */
export interface UnmanagedShare {
  /** The set of named containers that it was worked out for. */
  readonly named: ReadonlySet<string>;
  readonly managed: boolean;
  /** Millicores. */
  readonly millicores: number;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** A pod. */
export interface WatchedPod {
  readonly uid: string;
  /** When it was found, monotonic milliseconds. */
  readonly foundAt: number;
  readonly own?: WatchedCgroup;
  readonly containers: Map<string, WatchedContainer>;
  /** Ids of containers that were in it and are gone, newest last. */
  readonly formerIDs: string[];
  memory: LevelMemory;
  /** What the market may not share because of it, and for whom and when that was worked out. */
  unmanaged?: UnmanagedShare;
  /** Whether a container is close to its quota, or has no sample yet that could tell. */
  restless: boolean;
  /** Milliseconds of CPU time used since `own.previous`, as its containers tell. */
  inferredMs: number;
  /** When it was last looked at, monotonic milliseconds; absent before the first time. */
  lookedAt?: number;
  /** When all of its counters were last read; absent before the first time. */
  thoroughAt?: number;
  /** When its weights and periods were last read; −Infinity before the first time. */
  settingsAt: number;
}

/** A container that restarts in a loop leaves one id every few seconds; bounds name the last. */
const FORMER_IDS_KEPT = 16;

/** A pod that was just found. */
export function watchPod(
  layout: CgroupLayout,
  { uid, directory, at }: Pick<PodCgroup, "uid" | "directory"> & { readonly at: number },
): WatchedPod {
  const own = directory === undefined ? {} : { own: watch(layout, directory) };
  const known = { uid, foundAt: at, ...own, containers: new Map(), formerIDs: [] };
  return {
    ...known,
    memory: NO_LEVEL_MEMORY,
    restless: true,
    inferredMs: 0,
    settingsAt: -Infinity,
  };
}

/** Brings the pod's containers in line with a listing; returns the files of those that are gone. */
export function updateContainers(
  pod: WatchedPod,
  layout: CgroupLayout,
  { found, directory, at }: {
    readonly found: readonly ContainerCgroup[];
    /** The pod's own. */
    readonly directory: string | undefined;
    readonly at: number;
  },
): CgroupFiles[] {
  const gone: CgroupFiles[] = [];
  delete pod.unmanaged;
  const present = new Set(found.map(({ id }) => id));
  for (const [id, { files }] of pod.containers) {
    if (present.has(id)) continue;
    pod.containers.delete(id);
    pod.formerIDs.push(id);
    gone.push(files);
  }
  pod.formerIDs.splice(0, pod.formerIDs.length - FORMER_IDS_KEPT);
  for (const container of found) {
    if (pod.containers.has(container.id)) continue;
    const stray = directory === undefined || !container.directory.startsWith(`${directory}/`);
    pod.restless = true;
    pod.containers.set(container.id, {
      id: container.id,
      stray,
      foundAt: at,
      roomMs: 0,
      calm: false,
      periodMs: DEFAULT_PERIOD_MS,
      throttledAt: -Infinity,
      ...watch(layout, container.directory),
    });
  }
  return gone;
}

function watch(layout: CgroupLayout, directory: string): WatchedCgroup {
  return { files: cgroupFiles(layout, directory), window: createUsageWindow(), inferred: false };
}
