/**
 * The controller's memory of a pod between two reconciles. Nothing here must survive a restart.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { EnforcementReason } from "../../shared/api/reasons/enforcement_reasons.ts";
import { isAtLeast } from "../../shared/control/object_key.ts";

/** A patch that the server accepted. */
export interface SentPatch {
  /** The resourceVersion of the pod in the cache when it was sent. */
  readonly from: string;
  /** The pod's resourceVersion after it. */
  readonly to: string;
  /** When it was accepted, ms of the monotonic clock. */
  readonly atMs: number;
}

/** Notes on one pod; times are ms of the monotonic clock. */
export interface PodMemory {
  readonly uid: string;
  /** The wait before the next attempt: the server or the kubelet refused the last, or was busy. */
  wait?: {
    readonly untilMs: number;
    /** True after a restore, for which only this kind of wait counts. */
    readonly restoring: boolean;
  } | undefined;
  refusal?: { readonly message: string; readonly reason: EnforcementReason } | undefined;
  /** How many attempts in a row the server has answered as busy. */
  busyTimes: number;
  pendingSinceMs?: number | undefined;
  /** A cached pod that is older than this patch has outdated limits. */
  lastPatch?: SentPatch;
  /** When the last patch was accepted; undefined once the kubelet has confirmed or refused it. */
  unconfirmedSinceMs?: number | undefined;
  /** When the last patch was sent, accepted or not: an ISO 8601 time. */
  attemptedAt?: string | undefined;
  /** The pod's limits when it was released from the market, as `limitsText()` has them. */
  releasedLimits?: string;
  /** When the market's patches of the last minutes were accepted. */
  resizedAtMs: readonly number[];
  /** The pod was resized too often: no decrease before this time. */
  oscillatesUntilMs: number;
  templateDueMs: number;
  publishedRevision?: number | undefined;
  /** UID of the record for which the agent was seen to clear; see `isConfirmed()`. */
  confirmedRecord?: string;
  /** The server has refused the bounds: no attempt before this time. */
  boundsRefusedUntilMs: number;
  /** When new messages were last written for the same bounds. */
  republishedAtMs: number;
  /** The last warnings about the pod's own labels and annotations. */
  lastWarnings: string;
  /** The last warnings about those of its namespace, workload and HPAs. */
  lastSharedWarnings: string;
  /** True from the event that the kernel does not enforce the limit to the event that it does. */
  isQuotaOffReported: boolean;
}

/** Notes that a patch was accepted: the kubelet is to confirm it. */
export function noteSent(memory: PodMemory, patch: SentPatch): void {
  memory.lastPatch = patch;
  memory.pendingSinceMs = patch.atMs;
  memory.unconfirmedSinceMs = patch.atMs;
  memory.busyTimes = 0;
  endWait(memory);
}

function endWait(memory: PodMemory): void {
  memory.wait = undefined;
  memory.refusal = undefined;
}

/** Time left to wait, ms. A restore does not wait after a refused change of the market. */
export function waitLeftMs(
  { wait }: Pick<PodMemory, "wait">,
  { nowMs, restoring }: { readonly nowMs: number; readonly restoring: boolean },
): number {
  if (wait === undefined || (restoring && !wait.restoring)) return 0;
  return Math.max(0, wait.untilMs - nowMs);
}

/** After this time, ms, a cached pod counts even if it is older than the last patch. */
const LONGEST_LAG_MS = 60_000;

/**
 * True when the pod is at least as new as the last patch. The patch is remembered also after that: a
 * cache that lists again may go back to an older version.
 */
export function isCurrent(
  { lastPatch }: Pick<PodMemory, "lastPatch">,
  { pod, nowMs }: { readonly pod: Pod; readonly nowMs: number },
): boolean {
  if (lastPatch === undefined) return true;
  const { resourceVersion } = pod.metadata;
  const current = isAtLeast(resourceVersion, lastPatch.to) ?? resourceVersion !== lastPatch.from;
  return current || nowMs - lastPatch.atMs >= LONGEST_LAG_MS;
}

/** Least time between two writes of new messages for the same bounds, ms. */
const REPUBLISH_MS = 60_000;

/** True when new messages of the bounds may be written; notes the write. */
export function mayRepublish(memory: PodMemory, nowMs: number): boolean {
  if (nowMs - memory.republishedAtMs < REPUBLISH_MS) return false;
  memory.republishedAtMs = nowMs;
  return true;
}

/** The pod's CPU limits as one text. */
function limitsText({ containers }: Pod): string {
  return containers.map(({ limits }) => limits.cpu ?? "").join();
}

/** Notes that the pod has its original limits and no allocation any more. */
export function noteRelease(memory: PodMemory, pod: Pod): void {
  memory.releasedLimits = limitsText(pod);
  memory.pendingSinceMs = undefined;
  endWait(memory);
}

/**
 * True when the pod still has the limits with which it was released. Their field manager does not
 * show it: it stays the market's where the market had set the same values.
 */
export function isReleased(memory: PodMemory | undefined, pod: Pod): boolean {
  return memory?.releasedLimits === limitsText(pod);
}

/**
 * A pod with more changes of limits than this in the window is not lowered for 5 minutes. The market
 * itself changes a pod up to 77 times (`tight`, the arena's scene `warm-pool`): a bound of 20 would
 * hold pods in nine of its eleven scenes, and make their P99 up to 3.5 times as long.
 */
const MOST_RESIZES = 100;
const RESIZES_WINDOW_MS = 5 * 60_000;
const OSCILLATING_MS = 5 * 60_000;

/** Notes a patch of the market. */
export function noteResize(memory: PodMemory, nowMs: number): void {
  const recent = memory.resizedAtMs.filter((atMs) => atMs > nowMs - RESIZES_WINDOW_MS);
  memory.resizedAtMs = [...recent, nowMs];
  if (memory.resizedAtMs.length <= MOST_RESIZES) return;
  memory.resizedAtMs = [];
  memory.oscillatesUntilMs = nowMs + OSCILLATING_MS;
}

/** Pauses before the market's next patch, after those that were accepted, ms. */
export function resizePauses(
  { resizedAtMs, oscillatesUntilMs }: PodMemory,
  { nowMs, minIntervalMs }: { readonly nowMs: number; readonly minIntervalMs: number },
): { readonly restMs: number; readonly oscillatingMs: number } {
  return {
    restMs: Math.max(0, (resizedAtMs.at(-1) ?? -Infinity) + minIntervalMs - nowMs),
    oscillatingMs: Math.max(0, oscillatesUntilMs - nowMs),
  };
}

/** Notes on pods by their key, `namespace/podName`. */
export interface PodMemories {
  /** The notes on this pod; new ones when the notes are about an earlier pod of this name. */
  getOrCreate(podKey: string, pod: Pod): PodMemory;
  known(podKey: string, pod: Pod): PodMemory | undefined;
  forget(podKey: string): void;
}

/** Makes an empty memory. It calls `onForget` for each deleted pod, with its UID. */
export function createPodMemories(onForget: (podKey: string, uid: string) => void): PodMemories {
  const memories = new Map<string, PodMemory>();
  function forget(podKey: string): void {
    const memory = memories.get(podKey);
    if (memories.delete(podKey)) onForget(podKey, memory?.uid ?? "");
  }
  return {
    getOrCreate(podKey, { metadata: { uid } }) {
      const known = memories.get(podKey);
      if (known?.uid === uid) return known;
      forget(podKey);
      const never = -Infinity;
      const memory = {
        ...{ uid, lastWarnings: "", lastSharedWarnings: "", isQuotaOffReported: false },
        ...{ busyTimes: 0, resizedAtMs: [], oscillatesUntilMs: never },
        ...{ templateDueMs: never, boundsRefusedUntilMs: never, republishedAtMs: never },
      };
      memories.set(podKey, memory);
      return memory;
    },
    known(podKey, { metadata: { uid } }) {
      const memory = memories.get(podKey);
      return memory?.uid === uid ? memory : undefined;
    },
    forget,
  };
}
