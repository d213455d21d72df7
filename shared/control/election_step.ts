/**
 * The rules by which several controllers agree on one leader, through a Lease that any of them may
 * write if it has not changed since it was read.
 *
 * Times of other machines are never compared with one's own. A candidate notes on its own monotonic
 * clock when it *saw* the record change, and takes over when the record has stood still for the
 * record's duration; so does client-go (`tools/leaderelection`, `observedTime`). The leader counts
 * from before it *sent* its last renewal and stops working after the shorter renew deadline. Two
 * never lead at once while no clock runs faster than another by deadline : duration, 10 : 15.
 *
 * @module
 */
import type { Lease } from "../api/lease.ts";

/** The Lease as a candidate has seen it. */
export interface ElectionState {
  /** The record as last seen; undefined while there is none. */
  readonly lease: Lease | undefined;
  /** When this version of the record was first seen, by the candidate's monotonic clock, ms. */
  readonly seenMs: number;
}

/** The candidate, and the time. */
export interface ElectionMoment {
  /** The candidate's unique name. */
  readonly identity: string;
  /** Monotonic clock, ms. */
  readonly nowMs: number;
  /** Wall clock, ms since the Unix epoch: only shown to people. */
  readonly wallMs: number;
  /** How long a record is valid without a renewal, ms; whole seconds. */
  readonly leaseMs: number;
}

/** The next action. */
export type ElectionAction =
  | { readonly do: "create" | "update"; readonly lease: Lease }
  /** Another candidate leads: read again after `ms` at the latest, when its record runs out. */
  | { readonly do: "wait"; readonly ms: number };

/** The state after a reading of the record; `seenMs` stays for an unchanged record. */
export function observe(
  { lease: old, seenMs }: ElectionState,
  { lease, nowMs }: { readonly lease: Lease | undefined; readonly nowMs: number },
): ElectionState {
  const same = old?.metadata.uid === lease?.metadata.uid &&
    old?.metadata.resourceVersion === lease?.metadata.resourceVersion;
  return { lease, seenMs: same ? seenMs : nowMs };
}

/** Decides whether to take or renew the leadership, or to wait for another candidate's to run out. */
export function electionStep(
  { lease, seenMs }: ElectionState,
  { identity, nowMs, wallMs, leaseMs }: ElectionMoment,
): ElectionAction {
  const durationSeconds = leaseMs / 1000;
  if (lease === undefined) {
    return {
      do: "create",
      lease: {
        metadata: { name: "", namespace: "", uid: "", resourceVersion: "" },
        holder: identity,
        durationSeconds,
        acquireTimeMs: wallMs,
        renewTimeMs: wallMs,
        transitions: 0,
      },
    };
  }
  if (lease.holder === identity) {
    return { do: "update", lease: { ...lease, durationSeconds, renewTimeMs: wallMs } };
  }
  const leftMs = seenMs + lease.durationSeconds * 1000 - nowMs;
  if (lease.holder !== "" && leftMs > 0) return { do: "wait", ms: leftMs };
  return {
    do: "update",
    lease: {
      ...lease,
      holder: identity,
      durationSeconds,
      acquireTimeMs: wallMs,
      renewTimeMs: wallMs,
      transitions: lease.transitions + 1,
    },
  };
}
