/**
 * The kinds of events on a pod.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

/** Events about pods. */
export const EVENT_REASONS = {
  CPULimitApplied: {
    means: "the kubelet has taken a new limit",
    remedy: "nothing: the message says why the limit was changed",
  },
  CPULimitHeld: {
    means: "a change is blocked, for the reason in the message",
    remedy: "kubectl coalloc explain shows what blocks it, and what to do",
  },
  CPULimitBounded: {
    means: "a new bound holds for the limit, for the reason in the message",
    remedy: "kubectl coalloc explain shows what to do about each bound",
  },
  CPULimitFailed: {
    means: "the API server refused a change",
    remedy: "the message is the server's; kubectl coalloc explain shows what to do",
  },
  CPULimitsRestored: {
    means: "the original limits are back",
    remedy: "nothing: the message says why",
  },
  OriginalLimitChanged: {
    means: "another client has set the limit: it is the original limit from now on",
    remedy:
      "nothing: the market starts from the new limit; the message names the field manager that has set it",
  },
  AnnotationIgnored: {
    means:
      "a value can't be read, may not count, counts for less than it says, or stands where it is not " +
      "reads it",
    remedy: "the message names annotation or label, and what counts",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** One of {@linkcode EVENT_REASONS}. */
export type EventReason = keyof typeof EVENT_REASONS;
