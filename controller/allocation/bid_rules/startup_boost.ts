/**
 * Pods that start: more CPU until they are Ready and a little longer.
 *
 * @module
 */
import { parseDuration } from "../../../shared/duration.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { BidRule } from "./bid_rule.ts";

/** What the annotation asks for. */
export interface StartupBoost {
  /** Factor on ceilings, above 1. */
  readonly factor: number;
  /** How long it holds after the pod is Ready, ms. */
  readonly holdMs: number;
}

/** Ceilings may not grow without end. */
const LARGEST_FACTOR = 10;
/** A boost that does not end is no boost, ms. */
const LONGEST_HOLD_MS = 600_000;
/** Nor does a pod start for longer than this, ms: what is not Ready by then has another problem. */
const LONGEST_START_MS = 600_000;

/** Reads the annotation; undefined when it can't be read. `2x` alone ends when the pod is Ready. */
export function parseStartupBoost(text: string): StartupBoost | undefined {
  const [, number, , hold] = /^\s*(\d+(?:\.\d+)?)x\s*(,\s*(\S+)\s*)?$/.exec(text) ?? [];
  const factor = Number(number);
  const holdMs = hold === undefined ? 0 : parseDuration(hold);
  if (number === undefined || holdMs === undefined) return undefined;
  return factor > 1 && factor <= LARGEST_FACTOR && holdMs <= LONGEST_HOLD_MS
    ? { factor, holdMs }
    : undefined;
}

/**
 * The rule for a pod with a valid annotation. A pod starts once, for ten minutes at most: a pod that
 * is no longer Ready after that, or has containers in CrashLoopBackOff, is not starting.
 */
export function startupBoost({ factor, holdMs }: StartupBoost): BidRule {
  return ({ pod, nowMs }) => {
    const { ready, readySinceMs = -Infinity } = pod;
    const lateMs = startedAt(pod, nowMs) + LONGEST_START_MS;
    const untilMs = ready && readySinceMs <= lateMs ? readySinceMs + holdMs : lateMs;
    if (nowMs >= untilMs) return [];
    const message = `ceilings × ${factor} until ${holdMs / 1000} s after the pod is Ready`;
    return [{ reason: "StartupBoost", boost: factor, message, untilMs }];
  };
}

/**
 * When the first container began, or now, where none has. Of a container that was started again that
 * is not known any more: then it is when the kubelet took the pod on.
 */
function startedAt({ containers, startedAtMs: takenOnMs = -Infinity }: Pod, nowMs: number): number {
  const starts = containers.map(({ startedAtMs = nowMs, restartedAtMs }) =>
    restartedAtMs === undefined ? startedAtMs : takenOnMs
  );
  return Math.min(nowMs, ...starts);
}
