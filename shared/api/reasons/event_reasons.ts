/**
 * The kinds of events on a pod.
 *
 * @module
 */
import type { Reason } from "./reason.ts";

/** What the pod's event stream tells. */
export const EVENT_REASONS = {
  CPULimitApplied: {
    means: "the kubelet has taken a new limit",
    remedy: "nothing: the message says why the limit was changed",
  },
  CPULimitHeld: {
    means: "a change is held back, for the reason in the message",
    remedy: "kubectl coalloc explain tells what holds it back, and what to do",
  },
  CPULimitBounded: {
    means: "a new bound holds for the limit, for the reason in the message",
    remedy: "kubectl coalloc explain tells what to do about each bound",
  },
  CPULimitFailed: {
    means: "the API server refused a change",
    remedy: "the message is the server's; kubectl coalloc explain tells what to do",
  },
  CPULimitsRestored: {
    means: "the original limits are back",
    remedy: "nothing: the message says why",
  },
  OwnLimitChanged: {
    means: "somebody else has set the limit: it is the original limit from now on",
    remedy: "nothing: the market starts from the new limit; the message says who has set it",
  },
  AnnotationIgnored: {
    means:
      "a word can't be read, may not count, counts for less than it says, or stands where nobody " +
      "reads it",
    remedy: "the message names annotation or label, and what counts",
  },
} as const satisfies Readonly<Record<string, Reason>>;

/** A word of {@linkcode EVENT_REASONS}. */
export type EventReason = keyof typeof EVENT_REASONS;
