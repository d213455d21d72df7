/**
 * One sample of a pod from its cgroup files.
 *
 * A read costs about 4 µs and a full node has a thousand files, so not all are read each time. A
 * container that used far less in an interval than its quota allows in one enforcement period was not
 * throttled. Then the pod's counters, the container's quota and, in version 1, its throttling counters are
 * left for later: counters only grow, so nothing is lost. (Version 2 has usage and throttling in one
 * file.) Containers without a quota, above all sandboxes, are read seldom.
 *
 * @module
 */
import {
  type CgroupFiles,
  readCounters,
  readPeriod,
  readQuota,
  readRequest,
  readThreads,
  readUsage,
} from "../../shared/cgroup/cgroup_files.ts";
import {
  fadeMemory,
  roomAfterIdle,
  type ThrottledTime,
  throttledTime,
} from "../../shared/cgroup/throttled_time.ts";
import {
  type Interval,
  intervalBetween,
  isBusy,
  type Reading,
} from "../../shared/cgroup/sample.ts";
import { DEFAULT_PERIOD_MS } from "../../shared/cgroup/kernel_text.ts";
import type { CgroupTree } from "../../shared/cgroup/tree.ts";
import { YOUNG_MS } from "./pod_list.ts";
import type { CgroupState, ContainerCgroupState, PodState } from "./pod_state.ts";

/** The node and the time of a sample. */
export interface SampleContext {
  readonly tree: CgroupTree;
  /** Monotonic time. */
  readonly at: number;
  /** CPUs of the node. */
  readonly cores: number;
  /** Whether to read PSI of containers with a quota, where it is offered. */
  readonly pressure: boolean;
  /** Called with each file that does not have the kernel's format. */
  readonly onMalformed: (error: SyntaxError, files: CgroupFiles) => void;
}

/**
 * Interval at which all counters and quotas of a pod are read; shorter for a pod outside of the market:
 * its usage window needs them.
 */
const ALL_MS = { managed: 30_000, unmanaged: 1000 } as const;
/** Interval at which weights and periods are read; in a young pod they may be set after its creation. */
const SETTINGS_MS = { usual: 60_000, young: 1000 } as const;
/** Interval at which a container without a quota is read, if it used CPU in the last interval. */
const UNLIMITED_MS = 1000;
/**
 * A container that used less than this share of its quota for one period was not throttled. At most half,
 * because CPUs take the quota in slices, of which some may be unused on other CPUs when it runs out.
 */
const IDLE_SHARE = { stays: 0.5, becomes: 0.25 } as const;
/** Time after throttling for which a container is not idle. */
const THROTTLED_MS = 2000;

/** A container and the interval since its last reading. */
interface ContainerInterval {
  readonly container: ContainerCgroupState;
  readonly interval: Interval;
  /** Whether it was idle before, and no longer is. */
  readonly nearsQuota: boolean;
}

/**
 * Reads a pod's counters and updates the samples of the containers that were read. `managed` is whether the
 * bounds name one of its containers. Returns false when a cgroup is gone or malformed.
 */
export function readPod(
  pod: PodState,
  context: SampleContext & { readonly managed: boolean },
): boolean {
  const { at, managed } = context;
  const { sampledAt: before, allReadAt, settingsAt } = pod;
  const full = at < allReadAt || at - allReadAt >= (managed ? ALL_MS.managed : ALL_MS.unmanaged);
  const settingsMs = at - pod.foundAt < YOUNG_MS ? SETTINGS_MS.young : SETTINGS_MS.usual;
  if (at < settingsAt || at - settingsAt >= settingsMs) readSettings(pod, context);
  if (full) pod.allReadAt = at;
  pod.sampledAt = at;
  const read: ContainerInterval[] = [];
  let idle = !full;
  let isComplete = true;
  for (const container of pod.containers.values()) {
    if (full) refreshQuota(container, context);
    else if (container.quota === undefined && !isUnlimitedDue(container, at)) continue;
    const wasIdle = container.idle;
    const interval = readInterval(container, { ...context, full });
    idle &&= container.idle;
    isComplete &&= container.previous !== undefined;
    container.sample = undefined;
    if (interval !== undefined) {
      read.push({ container, interval, nearsQuota: wasIdle && !container.idle });
    }
  }
  if (idle) {
    // Nothing was throttled at either level, so the pod's counters need not be read.
    const roomMs = roomAfterIdle(context.cores);
    for (const one of read) setSample(one, { throttledMs: 0, throttledPeriods: 0, roomMs });
    pod.memory = fadeMemory(pod.memory, read.at(-1)?.interval.intervalMs ?? 0);
  } else isComplete = sampleBothLevels(pod, read, { ...context, before }) && isComplete;
  pod.nearLimit = [...pod.containers.values()]
    .some(({ sample }) => sample === undefined || isBusy(sample));
  return isComplete;
}

/** Reads a container's quota. */
export function refreshQuota(
  container: ContainerCgroupState,
  context: Pick<SampleContext, "tree" | "onMalformed">,
): void {
  const { periodMs } = container;
  container.quota = attempt(
    container,
    context,
    (tree, files) => readQuota(tree, files, { periodMs }),
  );
}

/** Reads weights and enforcement periods, which change seldom, and quotas, which depend on the periods. */
function readSettings(pod: PodState, context: SampleContext): void {
  const { cgroup, containers } = pod;
  pod.settingsAt = context.at;
  if (cgroup !== undefined) cgroup.request = attempt(cgroup, context, readRequest);
  for (const container of containers.values()) {
    container.request = attempt(container, context, readRequest);
    container.periodMs = attempt(container, context, readPeriod) ?? DEFAULT_PERIOD_MS;
    refreshQuota(container, context);
  }
}

function isUnlimitedDue({ previous, sample }: ContainerCgroupState, at: number): boolean {
  if (previous === undefined || sample === undefined || at < previous.at) return true;
  return sample.usage > 0 && at - previous.at >= UNLIMITED_MS;
}

/** Reads a container's counters and notes whether it was idle; returns its interval if it is trustworthy. */
function readInterval(
  container: ContainerCgroupState,
  context: SampleContext & { readonly full: boolean },
): Interval | undefined {
  const { at, cores, full } = context;
  const { previous, inferred: wasInferred, quota, files: { version } } = container;
  // A container without a quota is never throttled, so that `cpu.stat` is not needed.
  const isUsageEnough = version === 1 && (!full || quota === undefined);
  const inferred = isUsageEnough ? inferReading(container, context) : undefined;
  const reading = inferred ?? readAll(container, context, context.pressure && quota !== undefined);
  container.previous = reading;
  container.inferred = inferred !== undefined;
  if (reading !== undefined) container.window.add(at, reading.usageMs);
  const interval = reading && previous && intervalBetween([previous, reading], { cores });
  if (interval !== undefined && interval.throttledMs > 0) container.throttledAt = at;
  container.idle = interval !== undefined && (container.inferred || wasIdle(container, interval));
  if (interval === undefined) return undefined;
  if (!container.idle && !full) refreshQuota(container, context);
  return wasInferred ? withinSpan(interval, container) : interval;
}

/** Whether a container can't have been throttled in an interval, by what it used. */
function wasIdle(
  { quota, periodMs, throttledAt, idle }: ContainerCgroupState,
  { at, usageMs }: Pick<Interval, "at" | "usageMs">,
): boolean {
  if (quota === undefined) return true;
  const share = idle ? IDLE_SHARE.stays : IDLE_SHARE.becomes;
  return at - throttledAt > THROTTLED_MS && usageMs < share * quota / 1000 * periodMs;
}

/** Reads usage and keeps the other counters; undefined when the container was not idle. */
function inferReading(
  container: ContainerCgroupState,
  context: SampleContext,
): Reading | undefined {
  const { at } = context;
  const { previous } = container;
  if (previous === undefined) return undefined;
  const usageMs = attempt(container, context, readUsage);
  if (usageMs === undefined || usageMs < previous.usageMs) return undefined;
  const isIdle = wasIdle(container, { at, usageMs: usageMs - previous.usageMs });
  return isIdle ? { ...previous, at, usageMs } : undefined;
}

/** Cuts periods that include earlier intervals, in which they were not read. */
function withinSpan(interval: Interval, { periodMs }: ContainerCgroupState): Interval {
  const { intervalMs, periods, throttledPeriods } = interval;
  const maxPeriods = Math.max(throttledPeriods, Math.round(intervalMs / periodMs));
  return periods <= maxPeriods ? interval : { ...interval, periods: maxPeriods };
}

function readAll(
  cgroup: CgroupState,
  context: SampleContext,
  pressure: boolean,
): Reading | undefined {
  const { at } = context;
  return attempt(cgroup, context, (tree, files) => readCounters(tree, files, { at, pressure }));
}

/** Samples from the counters of both levels; returns whether the pod's cgroup is still there. */
function sampleBothLevels(
  pod: PodState,
  read: readonly ContainerInterval[],
  context: SampleContext & { readonly before: number | undefined },
): boolean {
  const { cores, at } = context;
  const podInterval = readPodInterval(pod, read, context);
  const containers = read.map(({ container, interval }) => {
    const { quota, roomMs } = container;
    // The number of threads is needed only where both levels count throttling.
    const isDoubtful = interval.throttledMs > 0 && (podInterval?.throttledMs ?? 0) > 0;
    const threads = isDoubtful ? attempt(container, context, readThreads) : undefined;
    return { interval, quota, threads, roomMs };
  });
  const result = throttledTime(pod.memory, { cores, containers, pod: podInterval });
  pod.memory = result.memory;
  for (const [i, one] of read.entries()) {
    const throttled = result.containers[i] as ThrottledTime;
    if (throttled.throttledPeriods > 0) one.container.throttledAt = at;
    setSample(one, throttled);
  }
  return pod.cgroup === undefined || pod.cgroup.previous !== undefined;
}

/**
 * The interval of the pod's cgroup. If its counters were not read while its containers were idle, its interval
 * begins with theirs, and its usage is the sum of theirs.
 */
function readPodInterval(
  { cgroup }: PodState,
  read: readonly ContainerInterval[],
  context: SampleContext & { readonly before: number | undefined },
): Interval | undefined {
  if (cgroup === undefined) return undefined;
  const { previous } = cgroup;
  const reading = readAll(cgroup, context, false);
  cgroup.previous = reading;
  if (reading === undefined) return undefined;
  const { at, before } = context;
  cgroup.window.add(at, reading.usageMs);
  const interval = previous && intervalBetween([previous, reading], context);
  if (interval === undefined || before === undefined || previous?.at === before) return interval;
  const inside = read.filter(({ container }) => !container.orphaned);
  const usageMs = inside.reduce((sum, one) => sum + one.interval.usageMs, 0);
  return { ...interval, intervalMs: at - before, usageMs };
}

function setSample(
  { container, interval, nearsQuota }: ContainerInterval,
  { throttledMs, throttledPeriods, roomMs }: ThrottledTime,
): void {
  const { at, intervalMs, usageMs, periods, pressureMs } = interval;
  const { quota, request } = container;
  container.roomMs = roomMs;
  container.sample = {
    containerID: container.id,
    at,
    intervalMs,
    usage: usageMs / intervalMs * 1000,
    throttledMsPerS: throttledMs / intervalMs * 1000,
    periods,
    throttledPeriods,
    ...(pressureMs === undefined ? {} : { pressure: Math.min(1, pressureMs / intervalMs) }),
    ...(nearsQuota ? { nearsQuota: true as const } : {}),
    ...(request === undefined ? {} : { request: request.linear }),
    ...(quota === undefined ? {} : { quota }),
  };
}

/** Returns the result of `read`, or undefined, with a report, for malformed text. */
function attempt<T>(
  cgroup: CgroupState,
  { tree, onMalformed }: Pick<SampleContext, "tree" | "onMalformed">,
  read: (tree: CgroupTree, files: CgroupFiles) => T,
): T | undefined {
  try {
    return read(tree, cgroup.files);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    onMalformed(error, cgroup.files);
    return undefined;
  }
}
