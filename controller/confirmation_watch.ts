/**
 * Measures the time from an agent's decision to the kubelet's confirmation, as the controller sees it:
 * from the event with new desired limits to the event with a pod status that shows them.
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

/** Watches until the returned function is called. A newer decision starts the time again. */
export function watchConfirmations(
  { pods, allocations, clock, onConfirmed }: ConfirmationWatchParts,
): () => void {
  /** By allocation key: when desired limits came that are not applied yet, ms. */
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
  const changed = containersWanted(marketSubject(pod), wanted).filter(({ name }) =>
    wanted.has(name)
  );
  return changed.length === wanted.size && changed.every((container) => isApplied(pod, container));
}
