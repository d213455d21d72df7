/**
 * State of one pod between two samples: its cgroups, their last readings, its samples.
 *
 * @module
 */
import {
  type CgroupFiles,
  cgroupFiles,
  type RequestReading,
} from "../../shared/cgroup/cgroup_files.ts";
import { type LevelMemory, NO_LEVEL_MEMORY } from "../../shared/cgroup/throttled_time.ts";
import type { CgroupLayout } from "../../shared/cgroup/layout.ts";
import type { ContainerCgroup } from "../../shared/cgroup/pod_cgroups.ts";
import { DEFAULT_PERIOD_MS } from "../../shared/cgroup/kernel_text.ts";
import type { ContainerSample, Reading } from "../../shared/cgroup/sample.ts";
import { createUsageWindow, type UsageWindow } from "../../shared/cgroup/usage_window.ts";

/** The cgroup of a pod or a container. */
export interface CgroupState {
  readonly files: CgroupFiles;
  readonly window: UsageWindow;
  /** Absent before the first reading and after one that found nothing. */
  previous?: Reading | undefined;
  /** From its weight; absent when that could not be read. */
  request?: RequestReading | undefined;
}

/** A container's cgroup. Times are monotonic milliseconds. */
export interface ContainerCgroupState extends CgroupState {
  readonly id: string;
  /** Whether it lies outside of its pod's cgroup, where the pod's counters miss it. */
  readonly orphaned: boolean;
  /** Millicores; absent when it has none. */
  quota?: number | undefined;
  /** The quota's enforcement period. */
  periodMs: number;
  /** Whether its usage in the last interval shows that no quota ran out. */
  idle: boolean;
  /** Whether the throttling counters of `previous` were left unread. */
  inferred: boolean;
  /** When it was last seen throttled. */
  throttledAt: number;
  /** See {@linkcode ThrottledTime}. */
  roomMs: number;
  /** From the newest pair of readings that could be trusted. */
  sample?: ContainerSample | undefined;
}

/** A pod. Times are monotonic milliseconds. */
export interface PodState {
  readonly uid: string;
  /** The path of its cgroup; undefined when only orphaned containers were found. */
  readonly directory: string | undefined;
  /** Absent where `directory` is undefined. */
  readonly cgroup?: CgroupState;
  readonly containers: Map<string, ContainerCgroupState>;
  /** Ids of containers that are gone, newest last. */
  readonly formerIDs: string[];
  /** When it or its newest container was found; −Infinity for those of the first listing. */
  foundAt: number;
  memory: LevelMemory;
  /** Whether a container is close to its quota, or has no sample yet that could show it. */
  nearLimit: boolean;
  /** When it was last sampled; absent before the first time. */
  sampledAt?: number;
  /** When all of its counters and quotas were last read; −Infinity before the first time. */
  allReadAt: number;
  /** When its weights and periods were last read; −Infinity before the first time. */
  settingsAt: number;
}

/** Enough for a container that restarts every few seconds, until its bounds have the new id. */
const FORMER_IDS_KEPT = 16;

/** A pod without its containers yet. */
export function newPodState(
  layout: CgroupLayout,
  { uid, directory, foundAt }: Pick<PodState, "uid" | "directory" | "foundAt">,
): PodState {
  return {
    uid,
    directory,
    foundAt,
    ...(directory === undefined ? {} : { cgroup: newCgroupState(layout, directory) }),
    containers: new Map(),
    formerIDs: [],
    memory: NO_LEVEL_MEMORY,
    nearLimit: true,
    allReadAt: -Infinity,
    settingsAt: -Infinity,
  };
}

/**
 * Brings the pod's containers in line with a listing at a monotonic time; returns the files of those
 * that are gone.
 */
export function updateContainers(
  pod: PodState,
  layout: CgroupLayout,
  { found, at }: { readonly found: readonly ContainerCgroup[]; readonly at: number },
): CgroupFiles[] {
  const { containers, formerIDs, directory } = pod;
  const present = new Set(found.map(({ id }) => id));
  const gone = [...containers.values()].filter(({ id }) => !present.has(id));
  for (const { id } of gone) {
    containers.delete(id);
    formerIDs.push(id);
  }
  formerIDs.splice(0, formerIDs.length - FORMER_IDS_KEPT);
  for (const container of found) {
    if (containers.has(container.id)) continue;
    pod.foundAt = at;
    pod.nearLimit = true;
    pod.settingsAt = -Infinity;
    containers.set(container.id, {
      id: container.id,
      orphaned: directory === undefined || !container.directory.startsWith(`${directory}/`),
      roomMs: 0,
      idle: false,
      inferred: false,
      periodMs: DEFAULT_PERIOD_MS,
      throttledAt: -Infinity,
      ...newCgroupState(layout, container.directory),
    });
  }
  return gone.map(({ files }) => files);
}

/**
 * Whether the bounds name one of the pod's containers, or one that was in it a moment ago. So a pod
 * stays managed while its only container restarts and its bounds catch up, and a pod that opts out is unmanaged as
 * soon as its bounds are gone.
 */
export function isManaged(
  { containers, formerIDs }: PodState,
  managed: ReadonlySet<string>,
): boolean {
  for (const id of containers.keys()) if (managed.has(id)) return true;
  return formerIDs.some((id) => managed.has(id));
}

function newCgroupState(layout: CgroupLayout, directory: string): CgroupState {
  return { files: cgroupFiles(layout, directory), window: createUsageWindow() };
}
