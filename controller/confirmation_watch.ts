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

/**
 * Watches until the returned function is called. The last of decisions that follow each other counts.
 */
export function watchConfirmations(
  { pods, allocations, clock, onConfirmed }: ConfirmationWatchParts,
): () => void {
  /** When desired limits came that are not applied yet, ms, by the allocation's key. */
  const pending = new Map<string, number>();

  function takeAllocation(key: string, before: PodAllocation | undefined): void {
    const allocation = allocations.get(key);
    if (allocation === undefined) return void pending.delete(key);
    if (before === undefined || desiredText(before) === desiredText(allocation)) return;
    pending.set(key, clock.monotonic());
    takePod(`${allocation.metadata.namespace}/${allocation.spec.podName}`);
  }

  function takePod(podKey: string): void {
    const pod = pods.get(podKey);
    if (pod === undefined) return;
    const key = `${pod.metadata.namespace}/${pod.metadata.uid}`;
    const sinceMs = pending.get(key);
    if (sinceMs === undefined) return;
    if (!showsAll(pod, desiredLimits(allocations.get(key)?.spec ?? {}))) return;
    onConfirmed(clock.monotonic() - sinceMs);
    pending.delete(key);
  }

  const stops = [allocations.subscribe(takeAllocation), pods.subscribe(takePod)];
  return () => stops.forEach((stop) => stop());
}

function desiredText({ spec: { containers = [] } }: PodAllocation): string {
  return JSON.stringify(containers);
}

function showsAll(pod: Pod, limits: ReadonlyMap<string, number>): boolean {
  const wanted = limitsWanted(pod, limits);
  const there = containersWanted(marketSubject(pod), wanted).filter(({ name }) => wanted.has(name));
  return there.length === wanted.size && there.every((container) => isApplied(pod, container));
}
