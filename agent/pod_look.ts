/**
 * One look at a pod: which of its files are read, and the samples that come of it.
 *
 * A read costs about 4 µs and a full node has a thousand files, so not all are read each time. A
 * container that in this interval used far less than its quota gives it for one enforcement period
 * was not throttled in it, and then its usage says all there is: its throttling counters, its pod's
 * and its quota are left for the next thorough look. What they counted meanwhile is not lost, since
 * they only grow. A container without a quota, a sandbox above all, is looked at seldom. Version 2
 * has usage and throttling in one file, which is read each time.
 *
 * @module
 */
import { isBusy } from "../shared/cgroup/busy.ts";
import {
  readCounters,
  readPeriod,
  readQuota,
  readRequest,
  readThreads,
  readUsage,
} from "../shared/cgroup/cgroup_files.ts";
import { fadeMemory, heldBack, roomAfterCalm } from "../shared/cgroup/held_back.ts";
import { type Interval, intervalBetween } from "../shared/cgroup/interval.ts";
import { DEFAULT_PERIOD_MS } from "../shared/cgroup/quota.ts";
import type { Reading } from "../shared/cgroup/reading.ts";
import { isCalmInterval } from "./calm_interval.ts";
import type { LookContext } from "./look_context.ts";
import type { WatchedCgroup, WatchedContainer, WatchedPod } from "./watched_pod.ts";

/**
 * All counters of a pod and the quotas in it are read this often; those of a pod outside of the
 * market more often, since they make up its usage window.
 */
const THOROUGH_MS = { managed: 30_000, unmanaged: 1000 } as const;
/** Thorough looks are spread over this many looks, so that no single one does all the work. */
const PHASES = 120;
/** Requests are read this often: what takes no part in the market holds its request. */
const SETTINGS_MS = 60_000;
/**
 * A container without a quota is read at thorough looks, and this often where it used something the
 * last time.
 */
const UNLIMITED_MS = 1000;
/** A runtime may make the cgroup first and set its quota and weight a moment later. */
const YOUNG_MS = 30_000;
/** How a look ended; when a cgroup was gone, the pod's directory should be listed again. */
export type LookOutcome = "whole" | "gone";

/** A container and what one look found of it. */
interface Looked {
  readonly container: WatchedContainer;
  readonly interval: Interval;
  /** Whether it was calm until then. */
  readonly rising: boolean;
}

/** Reads one container's quota: it should have changed. */
export function lookAtChange(container: WatchedContainer, context: LookContext): void {
  lookAtQuota(container, context);
}

/** Reads what changes seldom: weights, enforcement periods, and who has a quota at all. */
export function lookAtSettings(pod: WatchedPod, context: LookContext): void {
  pod.settingsAt = context.at;
  for (const container of pod.containers.values()) lookAtContainerSettings(container, context);
  if (pod.own !== undefined) lookAtWeight(pod.own, context);
}

function lookAtContainerSettings(container: WatchedContainer, context: LookContext): void {
  const { tree } = context;
  lookAtWeight(container, context);
  container.periodMs = attempt(container, context, () => readPeriod(tree, container.files)) ??
    DEFAULT_PERIOD_MS;
  lookAtQuota(container, context);
}

function lookAtWeight(cgroup: WatchedCgroup, context: LookContext): void {
  cgroup.request = attempt(cgroup, context, () => readRequest(context.tree, cgroup.files));
}

/**
 * Reads a pod's counters and renews the samples of the containers that were read. `managed` says
 * whether the bounds name a container of it.
 */
export function lookAtPod(
  pod: WatchedPod,
  context: LookContext & { readonly managed: boolean },
): LookOutcome {
  const { at, managed } = context;
  const thoroughMs = managed ? THOROUGH_MS.managed : THOROUGH_MS.unmanaged;
  const thorough = pod.thoroughAt === undefined || at < pod.thoroughAt ||
    at - pod.thoroughAt >= thoroughMs;
  const anew = thorough && at - pod.settingsAt >= SETTINGS_MS;
  if (anew) lookAtSettings(pod, context);
  if (thorough) pod.thoroughAt = at - (pod.thoroughAt === undefined ? phaseOf(pod) : 0);
  const before = pod.lookedAt;
  pod.lookedAt = at;
  const looked: Looked[] = [];
  let calm = !thorough;
  let present = true;
  for (const container of pod.containers.values()) {
    if (thorough && !anew) renewSettings(container, context);
    if (container.quota === undefined && !thorough && !isUnlimitedDue(container, at)) continue;
    const wasCalm = container.calm;
    const { interval, isCalm } = lookAtContainer(container, { ...context, thorough });
    calm &&= isCalm;
    present &&= container.previous !== undefined;
    container.sample = undefined;
    container.calm = isCalm;
    if (interval === undefined) continue;
    looked.push({ container, interval, rising: wasCalm && !isCalm });
  }
  if (calm) sampleCalm(pod, looked, context);
  else sampleBothLevels(pod, looked, { ...context, before });
  settle(pod);
  const ownIsGone = !calm && pod.own !== undefined && pod.own.previous === undefined;
  return present && !ownIsGone ? "whole" : "gone";
}

/** Some milliseconds, the same for the same pod. */
function phaseOf({ uid }: WatchedPod): number {
  let sum = 0;
  for (let i = 0; i < uid.length; i++) sum += uid.charCodeAt(i);
  return sum % PHASES * THOROUGH_MS.managed / PHASES;
}

function renewSettings(container: WatchedContainer, context: LookContext): void {
  const { at, named } = context;
  if (at - container.foundAt < YOUNG_MS) lookAtContainerSettings(container, context);
  else if (container.quota !== undefined || named.has(container.id)) {
    lookAtQuota(container, context);
  }
}

function isUnlimitedDue({ previous, sample }: WatchedContainer, at: number): boolean {
  if (previous === undefined || sample === undefined || at < previous.at) return true;
  return sample.usage > 0 && at - previous.at >= UNLIMITED_MS;
}

function lookAtQuota(container: WatchedContainer, context: LookContext): void {
  const { files, periodMs } = container;
  container.quota = attempt(container, context, () => readQuota(context.tree, files, { periodMs }));
}

/** Reads a container's counters: its interval, if that can be trusted, and whether it was calm. */
function lookAtContainer(
  container: WatchedContainer,
  context: LookContext & { readonly thorough: boolean },
): { interval: Interval | undefined; isCalm: boolean } {
  const { at, cores, thorough } = context;
  const { previous, inferred, quota } = container;
  let reading: Reading | undefined;
  // Who has no quota is never throttled, so there is nothing in the other file.
  const skipped = container.files.version === 1 && (!thorough || quota === undefined);
  if (skipped) reading = inferCounters(container, context);
  const isInferred = reading !== undefined;
  reading ??= readAll(container, context, context.pressure && quota !== undefined);
  container.previous = reading;
  container.inferred = isInferred;
  if (reading === undefined) return { interval: undefined, isCalm: false };
  container.window.add(reading.at, reading.usageMs);
  if (previous === undefined) return { interval: undefined, isCalm: false };
  const interval = intervalBetween([previous, reading], { cores });
  if (interval === undefined) return { interval, isCalm: false };
  if (interval.throttledMs > 0) container.throttledAt = at;
  const isCalm = isInferred || isCalmInterval(container, interval);
  if (!isCalm && !thorough) lookAtQuota(container, context);
  return { interval: inferred ? withinSpan(interval, container) : interval, isCalm };
}

/** Usage as read, the other counters as they were; undefined when the container was not calm. */
function inferCounters(container: WatchedContainer, context: LookContext): Reading | undefined {
  const { at, tree } = context;
  const { previous, files } = container;
  if (previous === undefined) return undefined;
  const usageMs = attempt(container, context, () => readUsage(tree, files));
  if (usageMs === undefined || usageMs < previous.usageMs) return undefined;
  const used = { at, usageMs: usageMs - previous.usageMs };
  return isCalmInterval(container, used) ? { ...previous, at, usageMs } : undefined;
}

/** Periods of a time in which they were not read, cut to those of the interval itself. */
function withinSpan(interval: Interval, { periodMs }: WatchedContainer): Interval {
  const { intervalMs, periods, throttledPeriods } = interval;
  const most = Math.max(throttledPeriods, Math.round(intervalMs / periodMs));
  return periods <= most ? interval : { ...interval, periods: most };
}

function readAll(
  cgroup: WatchedCgroup,
  context: LookContext,
  pressure: boolean,
): Reading | undefined {
  const { tree, at } = context;
  return attempt(cgroup, context, () => readCounters(tree, cgroup.files, { at, pressure }));
}

/** Samples where nothing was throttled at either level, so that the pod's need not be read. */
function sampleCalm(
  pod: WatchedPod,
  looked: readonly Looked[],
  { cores }: LookContext,
): void {
  let usageMs = 0;
  let intervalMs = 0;
  for (const { container, interval } of looked) {
    container.roomMs = roomAfterCalm(cores);
    setSample(container, interval, { pod, rising: false, heldBackMs: 0, throttledPeriods: 0 });
    if (!container.stray) usageMs += interval.usageMs;
    intervalMs = interval.intervalMs;
  }
  pod.memory = fadeMemory(pod.memory, intervalMs);
  pod.inferredMs += usageMs;
}

/** Samples from the counters of both levels. */
function sampleBothLevels(
  pod: WatchedPod,
  looked: readonly Looked[],
  context: LookContext & { readonly before: number | undefined },
): void {
  const { cores, tree } = context;
  const own = pod.own === undefined ? undefined : lookAtOwn(pod, pod.own, context);
  const containers = looked.map(({ container, interval }) => {
    const { quota, roomMs } = container;
    // Only where both levels count is there a doubt that the number of threads can settle.
    const doubtful = interval.throttledMs > 0 && (own?.throttledMs ?? 0) > 0;
    const threads = doubtful
      ? attempt(container, context, () => readThreads(tree, container.files))
      : undefined;
    return {
      interval,
      roomMs,
      ...(quota === undefined ? {} : { quota }),
      ...(threads === undefined ? {} : { threads }),
    };
  });
  const pair = { cores, containers };
  const result = heldBack(pod.memory, own === undefined ? pair : { ...pair, pod: own });
  pod.memory = result.memory;
  for (const [index, { container, interval, rising }] of looked.entries()) {
    const lost = result.containers[index];
    if (lost === undefined) continue;
    container.roomMs = lost.roomMs;
    if (lost.throttledPeriods > 0) container.throttledAt = context.at;
    setSample(container, interval, { pod, rising, ...lost });
  }
}

/**
 * The pod's own interval. While its containers were calm its counters were not read: what those used
 * meanwhile, the pod used, so that its interval begins where theirs do.
 */
function lookAtOwn(
  pod: WatchedPod,
  own: WatchedCgroup,
  context: LookContext & { readonly before: number | undefined },
): Interval | undefined {
  const { previous } = own;
  const { inferredMs } = pod;
  const reading = readAll(own, context, false);
  own.previous = reading;
  pod.inferredMs = 0;
  if (reading === undefined) return undefined;
  own.window.add(reading.at, reading.usageMs);
  if (previous === undefined) return undefined;
  if (inferredMs === 0 && previous.at === context.before) {
    return intervalBetween([previous, reading], context);
  }
  const at = context.before ?? previous.at;
  // The levels' counters are not read at one instant: what was inferred may be a little ahead.
  const usageMs = Math.min(previous.usageMs + inferredMs, reading.usageMs);
  return intervalBetween([{ ...previous, at, usageMs }, reading], context);
}

/** Notes what the next look depends on. */
function settle(pod: WatchedPod): void {
  pod.restless = false;
  for (const { sample } of pod.containers.values()) {
    if (sample === undefined || isBusy(sample)) pod.restless = true;
  }
}

function setSample(
  container: WatchedContainer,
  { at, intervalMs, usageMs, periods, pressureMs }: Interval,
  { pod, rising, heldBackMs, throttledPeriods }: {
    readonly pod: WatchedPod;
    readonly rising: boolean;
    readonly heldBackMs: number;
    readonly throttledPeriods: number;
  },
): void {
  const { quota, request } = container;
  container.sample = {
    podUID: pod.uid,
    containerID: container.id,
    at,
    intervalMs,
    usage: usageMs / intervalMs * 1000,
    heldBack: heldBackMs / intervalMs * 1000,
    periods,
    throttledPeriods,
    ...(pressureMs === undefined ? {} : { pressure: Math.min(1, pressureMs / intervalMs) }),
    ...(rising ? { rising: true as const } : {}),
    ...(request === undefined ? {} : { request: request.linear }),
    ...(quota === undefined ? {} : { quota }),
  };
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
