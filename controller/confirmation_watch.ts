/**
 * How long it takes from an agent's decision to the kubelet's confirmation, as the controller sees
 * it: from the moment at which new desired limits reach it to that at which the pod's status shows
 * them.
 *
 * @module
 */
import type { Pod } from "../shared/api/pod.ts";
import type { PodAllocation } from "../shared/api/pod_allocation.ts";
import type { Clock } from "../shared/clock.ts";
import type { Informer } from "../shared/control/informer.ts";
import { isApplied } from "../shared/resize/inputs/resize_condition.ts";
import { containersWanted, limitsWanted, marketSubject } from "../shared/resize/inputs/subject.ts";
import { desiredLimits } from "../shared/resize/original_limits.ts";

/** Dependencies of the watch; it calls `onConfirmed` for each confirmation. */
export interface ConfirmationWatchParts {
  readonly pods: Informer<Pod>;
  readonly allocations: Informer<PodAllocation>;
  readonly clock: Clock;
  readonly onConfirmed: (waitedMs: number) => void;
}

interface Seen {
  readonly desired: string;
  /**
   * When the desired limits came, ms; undefined once they are applied, or when they came before the
   * watch.
   */
  sinceMs: number | undefined;
}

/**
 * Watches until the returned function is called. The last of decisions that follow each other counts.
 */
export function watchConfirmations(
  { pods, allocations, clock, onConfirmed }: ConfirmationWatchParts,
): () => void {
  /** By the allocation's key: the pod's namespace and UID. */
  const seen = new Map<string, Seen>();

  function takeAllocation(key: string): void {
    const allocation = allocations.get(key);
    if (allocation === undefined) return void seen.delete(key);
    const { metadata: { namespace }, spec: { podName, containers = [] } } = allocation;
    const desired = JSON.stringify(containers);
    const old = seen.get(key);
    if (old?.desired === desired) return;
    seen.set(key, { desired, sinceMs: old && clock.monotonic() });
    takePod(`${namespace}/${podName}`);
  }

  function takePod(podKey: string): void {
    const pod = pods.get(podKey);
    if (pod === undefined) return;
    const key = `${pod.metadata.namespace}/${pod.metadata.uid}`;
    const entry = seen.get(key);
    if (entry?.sinceMs === undefined) return;
    if (!showsAll(pod, desiredLimits(allocations.get(key)?.spec ?? {}))) return;
    onConfirmed(clock.monotonic() - entry.sinceMs);
    entry.sinceMs = undefined;
  }

  const stops = [allocations.subscribe(takeAllocation), pods.subscribe(takePod)];
  return () => stops.forEach((stop) => stop());
}

function showsAll(pod: Pod, limits: ReadonlyMap<string, number>): boolean {
  const wanted = limitsWanted(pod, limits);
  const there = containersWanted(marketSubject(pod), wanted).filter(({ name }) => wanted.has(name));
  return there.length === wanted.size && there.every((container) => isApplied(pod, container));
}
