/**
 * What the controller remembers of a pod between two looks. Nothing here must survive a restart.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";

/** Notes on one pod; times are ms of the monotonic clock. */
export interface PodMemory {
  readonly uid: string;
  /** The server's last refusal: no attempt before `untilMs`. */
  refusal?: { readonly untilMs: number; readonly message: string } | undefined;
  /** Since when a change is pending. */
  pendingSince?: number | undefined;
  /** Version of the pod that was patched: until the cache has a newer one, it tells old news. */
  patchedVersion?: string | undefined;
  /** The warnings that were told last. */
  warned: string;
  /** True when the limits in the pod's spec, though set by this product, are the user's own. */
  restored: boolean;
}

/** Notes on pods by their key, `namespace/podName`. */
export interface PodMemories {
  /** The notes on this pod; new ones when the last pod of this name was another. */
  of(podKey: string, pod: Pod): PodMemory;
  /** Forgets a pod that is gone. */
  forget(podKey: string): void;
}

/** No notes yet. `onForget` hears of each pod that is gone, with its UID. */
export function createPodMemories(onForget: (podKey: string, uid: string) => void): PodMemories {
  const memories = new Map<string, PodMemory>();
  function forget(podKey: string): void {
    const memory = memories.get(podKey);
    if (memory === undefined) return;
    memories.delete(podKey);
    onForget(podKey, memory.uid);
  }
  return {
    of(podKey, { metadata: { uid } }) {
      const known = memories.get(podKey);
      if (known?.uid === uid) return known;
      forget(podKey);
      const memory = { uid, warned: "", restored: false };
      memories.set(podKey, memory);
      return memory;
    },
    forget,
  };
}
