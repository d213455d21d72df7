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

/** Whether a container can't have been throttled in an interval, by what it used. */
export function isCalmInterval(
  { quota, periodMs, throttledAt, calm }: WatchedContainer,
  { at, usageMs }: { readonly at: number; readonly usageMs: number },
): boolean {
  if (quota === undefined) return true;
  const share = calm ? CALM_SHARE.stays : CALM_SHARE.becomes;
  return at - throttledAt > THROTTLED_MS && usageMs < share * quota / 1000 * periodMs;
}

/**
 * The look at most pods, most of the time, without a detour: all containers with a quota are calm and
 * none without is due, so one counter a container is all there is to read. Returns false, with
 * nothing changed, where that does not hold. Version 1 only: version 2 has no such counter.
 */
export function lookAtCalm(pod: WatchedPod, { tree, at, cores }: LookContext): boolean {
  const { lookedAt, limited } = pod;
  if (tree.counter === undefined || pod.restless || at >= pod.unlimitedDueAt) return false;
  if (lookedAt === undefined || at - lookedAt < SHORTEST_INTERVAL_MS) return false;
  if (at - lookedAt > LONGEST_CALM_MS) return false;
  // Counted loops here and below: iterators would be most of what a look leaves to the collector.
  for (let i = 0; i < limited.length; i++) {
    const container = limited[i];
    if (container?.previous === undefined || !container.calm) return false;
    if (container.files.version !== 1 || container.previous.at !== lookedAt) return false;
    container.readMs = (tree.counter(container.files.usage) ?? NaN) / NS_PER_MS;
    const usedMs = container.readMs - container.previous.usageMs;
    const mostMs = CALM_SHARE.stays * (container.quota ?? 0) / 1000 * container.periodMs;
    // Also what is no number fails this.
    if (!(usedMs >= 0 && usedMs < mostMs)) return false;
  }
  for (let i = 0; i < limited.length; i++) {
    const container = limited[i];
    if (container !== undefined) takeCalm(container, { pod, at, lookedAt, cores });
  }
  pod.lookedAt = at;
  pod.memory = fadeMemory(pod.memory, at - lookedAt);
  return true;
}

function takeCalm(
  container: WatchedContainer,
  { pod, at, lookedAt, cores }: {
    readonly pod: WatchedPod;
    readonly at: number;
    readonly lookedAt: number;
    readonly cores: number;
  },
): void {
  const { previous, readMs, quota } = container;
  if (previous === undefined || quota === undefined) return;
  const intervalMs = at - lookedAt;
  const usedMs = readMs - previous.usageMs;
  previous.at = at;
  previous.usageMs = readMs;
  container.inferred = true;
  container.roomMs = roomAfterCalm(cores);
  container.sample = {
    podUID: pod.uid,
    containerID: container.id,
    at,
    intervalMs,
    usage: usedMs / intervalMs * 1000,
    heldBack: 0,
    periods: 0,
    throttledPeriods: 0,
    quota,
  };
  if (!container.stray) pod.inferredMs += usedMs;
}
