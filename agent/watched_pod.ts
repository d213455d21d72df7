/**
 * One pod between two looks: its counters, its containers' samples, its usage.
 *
 * @module
 */
import {
  type CgroupFiles,
  cgroupFiles,
  readCounters,
  readQuota,
  readRequest,
  readThreads,
  type RequestReading,
} from "../shared/cgroup/cgroup_files.ts";
import { heldBack, type LevelMemory, NO_LEVEL_MEMORY } from "../shared/cgroup/held_back.ts";
import { type Interval, intervalBetween, SHORTEST_INTERVAL_MS } from "../shared/cgroup/interval.ts";
import type { CgroupLayout } from "../shared/cgroup/layout.ts";
import type { PodCgroup } from "../shared/cgroup/pod_cgroups.ts";
import type { Reading } from "../shared/cgroup/reading.ts";
import type { ContainerSample } from "../shared/cgroup/sample.ts";
import type { CgroupTree } from "../shared/cgroup/tree.ts";
import { createUsageWindow, type UsageWindow } from "../shared/cgroup/usage_window.ts";

/** A cgroup of either level. */
export interface WatchedCgroup {
  readonly files: CgroupFiles;
  readonly window: UsageWindow;
  /** Absent before the first look and after one that found nothing. */
  previous?: Reading | undefined;
  /** What its weight says; absent when it could not be read. */
  request?: RequestReading | undefined;
}

/** A container's cgroup. */
export interface WatchedContainer extends WatchedCgroup {
  readonly id: string;
  /** Whether it lies outside of its pod's cgroup, where the pod's counters miss it. */
  readonly stray: boolean;
  /** Millicores now; absent when it has none. */
  quota?: number | undefined;
  /** Milliseconds: see `held_back.ts`. */
  roomMs: number;
  /** Of the newest pair of readings that could be trusted. */
  sample?: ContainerSample | undefined;
}

/** A pod. */
export interface WatchedPod {
  readonly uid: string;
  readonly own?: WatchedCgroup;
  readonly containers: Map<string, WatchedContainer>;
  /** Ids of containers that were in it and are gone, newest last. */
  readonly formerIDs: string[];
  memory: LevelMemory;
}

/** A container that restarts in a loop leaves one id every few seconds; bounds name the last. */
const FORMER_IDS_KEPT = 16;

/** What a look needs to know of its surroundings. */
export interface LookContext {
  readonly tree: CgroupTree;
  /** Monotonic time. */
  readonly at: number;
  /** CPUs of the node. */
  readonly cores: number;
  /** Told of each file whose text is not what the kernel prints. */
  readonly malformed: (error: SyntaxError, files: CgroupFiles) => void;
}

/** A pod that was just found. */
export function watchPod(layout: CgroupLayout, { uid, directory }: PodCgroup): WatchedPod {
  const own = directory === undefined ? {} : { own: watch(layout, directory) };
  return { uid, ...own, containers: new Map(), formerIDs: [], memory: NO_LEVEL_MEMORY };
}

/** Brings the pod's containers in line with a listing; returns the files of those that are gone. */
export function updateContainers(
  pod: WatchedPod,
  layout: CgroupLayout,
  { found }: { readonly found: PodCgroup },
): CgroupFiles[] {
  const gone: CgroupFiles[] = [];
  const present = new Set(found.containers.map(({ id }) => id));
  for (const [id, { files }] of pod.containers) {
    if (present.has(id)) continue;
    pod.containers.delete(id);
    pod.formerIDs.push(id);
    gone.push(files);
  }
  pod.formerIDs.splice(0, pod.formerIDs.length - FORMER_IDS_KEPT);
  for (const { id, directory } of found.containers) {
    if (pod.containers.has(id)) continue;
    const stray = found.directory === undefined || !directory.startsWith(`${found.directory}/`);
    pod.containers.set(id, { id, stray, roomMs: 0, ...watch(layout, directory) });
  }
  return gone;
}

/** Reads what changes seldom: the weights, and whether there is a quota. */
export function lookAtSettings(pod: WatchedPod, context: LookContext): void {
  for (const cgroup of [...pod.containers.values(), ...(pod.own === undefined ? [] : [pod.own])]) {
    cgroup.request = attempt(cgroup, context, () => readRequest(context.tree, cgroup.files));
  }
  for (const container of pod.containers.values()) lookAtQuota(container, context);
}

function lookAtQuota(container: WatchedContainer, context: LookContext): void {
  container.quota = attempt(container, context, () => readQuota(context.tree, container.files));
}

/** Whether a pod was looked at so lately that another look would say nothing. */
export function isTooSoon(
  pod: WatchedPod,
  at: number,
  { ms = SHORTEST_INTERVAL_MS } = {},
): boolean {
  const last = lastLook(pod);
  return last !== undefined && at >= last && at - last < ms;
}

/**
 * Reads all counters of a pod and renews the samples of its containers. Pressure is read where there
 * is a quota: nobody asks for it elsewhere.
 */
export function lookAtPod(pod: WatchedPod, context: LookContext): void {
  const own = pod.own === undefined ? undefined : advance(pod.own, context, false);
  const looked = [];
  for (const container of pod.containers.values()) {
    const interval = advance(container, context, container.quota !== undefined);
    // Who has none, a sandbox above all, gets one seldom: then the next listing shows it.
    if (container.quota !== undefined) lookAtQuota(container, context);
    container.sample = undefined;
    if (interval !== undefined) {
      const { quota, roomMs } = container;
      // Only where both levels count is there a doubt that the number of threads can settle.
      const doubtful = interval.throttledMs > 0 && (own?.throttledMs ?? 0) > 0;
      const threads = doubtful
        ? attempt(container, context, () => readThreads(context.tree, container.files))
        : undefined;
      looked.push({
        container,
        interval,
        roomMs,
        ...(quota === undefined ? {} : { quota }),
        ...(threads === undefined ? {} : { threads }),
      });
    }
  }
  const pair = { cores: context.cores, containers: looked };
  const result = heldBack(pod.memory, own === undefined ? pair : { ...pair, pod: own });
  pod.memory = result.memory;
  for (const [index, { container, interval, quota }] of looked.entries()) {
    const lost = result.containers[index];
    if (lost === undefined) continue;
    container.roomMs = lost.roomMs;
    const { at, intervalMs, usageMs, periods, pressureMs } = interval;
    container.sample = {
      podUID: pod.uid,
      containerID: container.id,
      at,
      intervalMs,
      usage: usageMs / intervalMs * 1000,
      heldBack: lost.heldBackMs / intervalMs * 1000,
      periods,
      throttledPeriods: lost.throttledPeriods,
      ...(pressureMs === undefined ? {} : { pressure: Math.min(1, pressureMs / intervalMs) }),
      ...(quota === undefined ? {} : { quota }),
    };
  }
}

function watch(layout: CgroupLayout, directory: string): WatchedCgroup {
  return { files: cgroupFiles(layout, directory), window: createUsageWindow() };
}

function lastLook({ own, containers }: WatchedPod): number | undefined {
  if (own?.previous !== undefined) return own.previous.at;
  for (const { previous } of containers.values()) if (previous !== undefined) return previous.at;
  return undefined;
}

/** One reading; the interval since the one before, if that can be trusted. */
function advance(
  cgroup: WatchedCgroup,
  context: LookContext,
  pressure: boolean,
): Interval | undefined {
  const { tree, at, cores } = context;
  const reading = attempt(
    cgroup,
    context,
    () => readCounters(tree, cgroup.files, { at, pressure }),
  );
  const { previous } = cgroup;
  cgroup.previous = reading;
  if (reading === undefined) return undefined;
  cgroup.window.add(reading.at, reading.usageMs);
  return previous === undefined ? undefined : intervalBetween([previous, reading], { cores });
}

/** A text that the kernel would not print costs this one value, not the node's sample. */
function attempt<T>(cgroup: WatchedCgroup, context: LookContext, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    context.malformed(error, cgroup.files);
    return undefined;
  }
}
