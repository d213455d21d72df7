/**
 * Remembers the memory of containers at their OOM kills: the kubelet reports when, and a container's memory
 * may be raised meanwhile.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { bytesBeforeOOM, type OOMKill } from "../../../shared/rightsizing/estimator.ts";

/** The kills that have been seen. */
export interface OOMMemory {
  /** Kills of the pods' containers after `sinceMs`, by container, those of pods that are gone too. */
  killsOf(
    workload: string,
    pods: readonly Pod[],
    options: {
      readonly sinceMs: number;
      /** When values began to be applied to the workload the last time. @default never */
      readonly lastAppliedMs?: number;
    },
  ): ReadonlyMap<string, readonly OOMKill[]>;
  /** Forgets all workloads but those that are to be kept. */
  keepOnly(keep: (workload: string) => boolean): void;
  /** All that is remembered, by workload. */
  contents(): ReadonlyMap<string, readonly SeenKill[]>;
  /** Takes what another process has seen. */
  restore(workload: string, kills: readonly SeenKill[]): void;
}

/** A kill with its identity. */
export interface SeenKill extends OOMKill {
  /** UID of its pod. */
  readonly pod: string;
  readonly container: string;
  /** Ms since 1970, as the kubelet reported. */
  readonly atMs: number;
}

/** The kubelet reports whole seconds, rounded down: the kill was up to so much later, ms. */
const REPORTED_WITHIN_MS = 1000;

/**
 * No kill has been seen. Of one that is seen for the first time the memory is what the container has then:
 * its limit, or at least its request where it has none, since then the node was short and took from those
 * above their requests.
 *
 * A kill from before the last application that is seen for the first time is one that an earlier process
 * has seen and could not hand on: what was applied comes from it. It raises nothing once more, or each
 * crash would, and what the container requests now is not lowered for it, either.
 */
export function createOOMMemory(): OOMMemory {
  const seen = new Map<string, Map<string, SeenKill>>();
  return {
    killsOf(workload, pods, { sinceMs, lastAppliedMs = -Infinity }) {
      const known = seen.get(workload) ?? new Map<string, SeenKill>();
      for (const { metadata: { uid: pod }, containers } of pods) {
        for (
          const {
            name: container,
            oomKilledAtMs: atMs,
            limits: { memory: limitMemory },
            requests: { memory: requestMemory },
          } of containers
        ) {
          if (atMs === undefined) continue;
          const isNew = atMs + REPORTED_WITHIN_MS > lastAppliedMs;
          const hadBytes = isNew
            ? limitMemory ?? requestMemory ?? 0
            : bytesBeforeOOM(requestMemory ?? 0);
          const unlimited = isNew && limitMemory === undefined;
          if (hadBytes <= 0 && !unlimited) continue;
          const kill = { pod, container, atMs, hadBytes, ...(unlimited ? { unlimited } : {}) };
          if (!known.has(keyOf(kill))) known.set(keyOf(kill), kill);
        }
      }
      const kills = new Map<string, OOMKill[]>();
      for (const [key, { pod: _pod, container, atMs, ...kill }] of known) {
        if (atMs <= sinceMs) known.delete(key);
        else kills.set(container, [...kills.get(container) ?? [], kill]);
      }
      if (known.size > 0) seen.set(workload, known);
      else seen.delete(workload);
      return kills;
    },
    keepOnly(keep) {
      for (const workload of [...seen.keys()]) if (!keep(workload)) seen.delete(workload);
    },
    contents: () =>
      new Map(Array.from(seen, ([workload, known]) => [workload, [...known.values()]])),
    restore(workload, kills) {
      const known = seen.get(workload) ?? new Map<string, SeenKill>();
      for (const kill of kills) known.set(keyOf(kill), kill);
      if (known.size > 0) seen.set(workload, known);
    },
  };
}

function keyOf({ pod, container, atMs }: Pick<SeenKill, "pod" | "container" | "atMs">): string {
  return `${pod}/${container}/${atMs}`;
}
