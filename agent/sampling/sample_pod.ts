/**
 * One sample of a pod: which of its files are read, and what comes of them.
 *
 * A read costs about 4 µs and a full node has a thousand files, so not all are read each time. A
 * container that in this interval used far less than its quota gives it for one enforcement period
 * was not throttled in it. Then its pod's counters, its quota and, in version 1, its own throttling
 * counters are left for later: they only grow, so nothing is lost. (Version 2 has usage and throttling
 * in one file.) A container without a quota, a sandbox above all, is read seldom.
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
 * All counters of a pod and the quotas in it are read this often; those of a pod outside of the
 * market more often, since they make up its usage window.
 */
const ALL_MS = { managed: 30_000, unmanaged: 1000 } as const;
/** Weights and periods are read this often; in a young pod they may come after the cgroup. */
const SETTINGS_MS = { usual: 60_000, young: 1000 } as const;
/** A container without a quota is read this often where it used something the last time. */
const UNLIMITED_MS = 1000;
/**
 * A container that used less of its quota for one period than this was not throttled. Half, because
 * CPUs take the quota in slices, of which some may lie unused on other CPUs when it runs out.
 */
const IDLE_SHARE = { stays: 0.5, becomes: 0.25 } as const;
/** One that was throttled is not idle for this long, whatever it uses. */
const THROTTLED_MS = 2000;

/** A container and what it did since its last reading. */
interface ContainerInterval {
  readonly container: ContainerCgroupState;
  readonly interval: Interval;
  /** Whether it was idle before, and no longer is. */
  readonly nearsQuota: boolean;
}

/**
 * Reads a pod's counters and renews the samples of the containers that were read. `managed` is
 * whether the bounds name a container of it. Returns whether all its counters were
 * read: false for one that is gone or malformed.
 */
export function readPod(
  pod: PodState,
  context: SampleContext & { readonly managed: boolean },
): boolean {
  const { at, managed } = context;
  const { sampledAt: before, allReadAt, settingsAt } = pod;
  const all = at < allReadAt || at - allReadAt >= (managed ? ALL_MS.managed : ALL_MS.unmanaged);
  const settingsMs = at - pod.foundAt < YOUNG_MS ? SETTINGS_MS.young : SETTINGS_MS.usual;
  if (at < settingsAt || at - settingsAt >= settingsMs) readSettings(pod, context);
  if (all) pod.allReadAt = at;
  pod.sampledAt = at;
  const read: ContainerInterval[] = [];
  let idle = !all;
  let isWhole = true;
  for (const container of pod.containers.values()) {
    if (all) refreshQuota(container, context);
    else if (container.quota === undefined && !isUnlimitedDue(container, at)) continue;
    const wasIdle = container.idle;
    const interval = readInterval(container, { ...context, all });
    idle &&= container.idle;
    isWhole &&= container.previous !== undefined;
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
  } else isWhole = sampleBothLevels(pod, read, { ...context, before }) && isWhole;
  pod.nearLimit = [...pod.containers.values()]
    .some(({ sample }) => sample === undefined || isBusy(sample));
  return isWhole;
}

/** Reads a container's quota: it should have changed, or may have. */
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

/** Reads what changes seldom: weights and enforcement periods, and with these the quotas. */
function readSettings(pod: PodState, context: SampleContext): void {
  const { own, containers } = pod;
  pod.settingsAt = context.at;
  if (own !== undefined) own.request = attempt(own, context, readRequest);
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

/** Reads a container's counters: its interval, if that can be trusted; notes whether it was idle. */
function readInterval(
  container: ContainerCgroupState,
  context: SampleContext & { readonly all: boolean },
): Interval | undefined {
  const { at, cores, all } = context;
  const { previous, inferred: wasInferred, quota, files: { version } } = container;
  // A container without a quota is never throttled, so there is nothing in the other file.
  const isUsageEnough = version === 1 && (!all || quota === undefined);
  const inferred = isUsageEnough ? inferReading(container, context) : undefined;
  const reading = inferred ?? readAll(container, context, context.pressure && quota !== undefined);
  container.previous = reading;
  container.inferred = inferred !== undefined;
  if (reading !== undefined) container.window.add(at, reading.usageMs);
  const interval = reading && previous && intervalBetween([previous, reading], { cores });
  if (interval !== undefined && interval.throttledMs > 0) container.throttledAt = at;
  container.idle = interval !== undefined && (container.inferred || wasIdle(container, interval));
  if (interval === undefined) return undefined;
  if (!container.idle && !all) refreshQuota(container, context);
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

/** Usage as read, the other counters as they were; undefined when the container was not idle. */
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

/** Periods of a time in which they were not read, cut to those of the interval itself. */
function withinSpan(interval: Interval, { periodMs }: ContainerCgroupState): Interval {
  const { intervalMs, periods, throttledPeriods } = interval;
  const most = Math.max(throttledPeriods, Math.round(intervalMs / periodMs));
  return periods <= most ? interval : { ...interval, periods: most };
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
  const own = readOwnInterval(pod, read, context);
  const containers = read.map(({ container, interval }) => {
    const { quota, roomMs } = container;
    // Only where both levels count is there a doubt that the number of threads can settle.
    const isDoubtful = interval.throttledMs > 0 && (own?.throttledMs ?? 0) > 0;
    const threads = isDoubtful ? attempt(container, context, readThreads) : undefined;
    return { interval, quota, threads, roomMs };
  });
  const result = throttledTime(pod.memory, { cores, containers, pod: own });
  pod.memory = result.memory;
  for (const [i, one] of read.entries()) {
    const lost = result.containers[i] as ThrottledTime;
    if (lost.throttledPeriods > 0) one.container.throttledAt = at;
    setSample(one, lost);
  }
  return pod.own === undefined || pod.own.previous !== undefined;
}

/**
 * The pod's own interval. While its containers were idle its counters were not read: then its interval
 * begins where theirs do, and its usage is what they used.
 */
function readOwnInterval(
  { own }: PodState,
  read: readonly ContainerInterval[],
  context: SampleContext & { readonly before: number | undefined },
): Interval | undefined {
  if (own === undefined) return undefined;
  const { previous } = own;
  const reading = readAll(own, context, false);
  own.previous = reading;
  if (reading === undefined) return undefined;
  const { at, before } = context;
  own.window.add(at, reading.usageMs);
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

/** A text that the kernel would not print costs this one value, not the node's sample. */
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
