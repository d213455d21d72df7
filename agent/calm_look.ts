/**
 * The look at pods whose quotas are far away.
 *
 * @module
 */
import { fadeMemory, roomAfterCalm } from "../shared/cgroup/held_back.ts";
import { SHORTEST_INTERVAL_MS } from "../shared/cgroup/interval.ts";
import type { LookContext } from "./look_context.ts";
import type { WatchedContainer, WatchedPod } from "./watched_pod.ts";

/**
 * A container that used less of its quota for one period than this was not throttled. Half, because
 * CPUs take the quota in slices, of which some may lie unused on other CPUs when it runs out.
 */
const CALM_SHARE = { stays: 0.5, becomes: 0.25 } as const;
/** One that was throttled is not calm for this long, whatever it uses. */
const THROTTLED_MS = 2000;

/** A longer interval is left to the path that checks everything. */
const LONGEST_CALM_MS = 5000;
const NS_PER_MS = 1e6;
/** A calm container is told of this often, however often it is looked at. */
export const CALM_SAMPLE_MS = 1000;
/** Ticks of a loop come a little early or late; this early is still on time. */
const ON_TIME = 0.9;

/** Whether a container can't have been throttled in an interval, by what it used. */
export function isCalmInterval(
  { quota, periodMs, throttledAt, calm }: WatchedContainer,
  { at, usageMs }: { readonly at: number; readonly usageMs: number },
): boolean {
  if (quota === undefined) return true;
  const share = calm ? CALM_SHARE.stays : CALM_SHARE.becomes;
  return at - throttledAt > THROTTLED_MS && usageMs < share * quota / 1000 * periodMs;
}

/** How a calm look ended: it was none, there is nothing to tell yet, or there are new samples. */
export type CalmOutcome = "not calm" | "quiet" | "calm";

/**
 * The look at most pods, most of the time, without a detour: all containers with a quota are calm and
 * none without is due, so one counter a container is all there is to read. Nothing is changed where
 * that does not hold. Version 1 only: version 2 has no such counter.
 *
 * A burst ends the calm, so that the look finds it whenever it comes; what a calm container used is
 * told once in {@linkcode CALM_SAMPLE_MS}.
 */
export function lookAtCalm(pod: WatchedPod, { tree, at, cores }: LookContext): CalmOutcome {
  const { lookedAt, limited } = pod;
  if (pod.restless || at >= pod.unlimitedDueAt || tree.openCounter === undefined) return "not calm";
  if (lookedAt === undefined || at - lookedAt < SHORTEST_INTERVAL_MS) return "not calm";
  if (at - lookedAt > LONGEST_CALM_MS) return "not calm";
  // Counted loops here and below: iterators would be most of what a look leaves to the collector.
  for (let i = 0; i < limited.length; i++) {
    const container = limited[i];
    const previous = container?.previous;
    if (container === undefined || previous === undefined || !container.calm) return "not calm";
    if (container.files.version !== 1 || previous.at !== lookedAt) return "not calm";
    container.counter ??= tree.openCounter(container.files.usage);
    container.readMs = (container.counter() ?? NaN) / NS_PER_MS;
    const usedMs = container.readMs - previous.usageMs;
    const mostMs = CALM_SHARE.stays * (container.quota ?? 0) / 1000 * container.periodMs;
    // Also what is no number fails this.
    if (!(usedMs >= 0 && usedMs < mostMs)) return "not calm";
  }
  const tells = at - pod.sampledAt >= CALM_SAMPLE_MS * ON_TIME;
  const roomMs = roomAfterCalm(cores);
  for (let i = 0; i < limited.length; i++) {
    const container = limited[i];
    const previous = container?.previous;
    if (container === undefined || previous === undefined) continue;
    if (!container.stray) pod.inferredMs += container.readMs - previous.usageMs;
    previous.at = at;
    previous.usageMs = container.readMs;
    container.inferred = true;
    container.roomMs = roomMs;
    if (tells) sampleQuiet(container, { pod, at });
  }
  pod.lookedAt = at;
  pod.memory = fadeMemory(pod.memory, at - lookedAt);
  if (tells) pod.sampledAt = at;
  return tells ? "calm" : "quiet";
}

/** A sample of the time since the last one, in which nothing was throttled. */
function sampleQuiet(
  container: WatchedContainer,
  { pod, at }: { readonly pod: WatchedPod; readonly at: number },
): void {
  const { sample, quota, readMs, sampledMs } = container;
  if (sample === undefined || quota === undefined || at <= sample.at) return;
  const intervalMs = at - sample.at;
  container.sampledMs = readMs;
  container.sample = {
    podUID: pod.uid,
    containerID: container.id,
    at,
    intervalMs,
    usage: (readMs - sampledMs) / intervalMs * 1000,
    heldBack: 0,
    periods: 0,
    throttledPeriods: 0,
    quota,
  };
}
