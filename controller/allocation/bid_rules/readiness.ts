/**
 * A pod that is in trouble: its limits are not lowered.
 *
 * @module
 */
import type { BidEffect, BidFacts, BidRule } from "./bid_rule.ts";

/** After a restart no limit is lowered for this long, ms. */
const RESTART_MS = 5 * 60_000;

/** Not Ready, restarted of late, or crashing again and again: less CPU can only make it worse. */
export const readiness: BidRule = (facts) => [
  ...crashLooping(facts),
  ...restartedOfLate(facts),
  ...notReady(facts),
];

function crashLooping({ pod }: BidFacts): readonly BidEffect[] {
  const names = pod.containers.filter(({ crashLooping }) => crashLooping).map(({ name }) => name);
  if (names.length === 0) return [];
  const message = `${names.join(", ")} crashes again and again`;
  return [{ reason: "CrashLoopBackOff", held: "lower", message }];
}

function restartedOfLate({ pod, nowMs }: BidFacts): readonly BidEffect[] {
  const fresh = pod.containers.filter(({ restartedAtMs = -Infinity }) =>
    nowMs - restartedAtMs < RESTART_MS
  );
  if (fresh.length === 0) return [];
  const untilMs = Math.max(...fresh.map(({ restartedAtMs = 0 }) => restartedAtMs)) + RESTART_MS;
  const names = fresh.map(({ name }) => name).join(", ");
  const message = `${names} restarted less than 5 min ago`;
  return [{ reason: "RecentRestart", held: "lower", message, untilMs }];
}

function notReady({ pod }: BidFacts): readonly BidEffect[] {
  return pod.ready
    ? []
    : [{ reason: "PodNotReady", held: "lower", message: "the pod is not Ready" }];
}
