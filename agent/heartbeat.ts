/**
 * What the agent asks and tells about its node, again and again.
 *
 * The agents of a cluster are started together by a rollout, and fail together when the server does.
 * So each comes at a time of its own: after a start or a failure anywhere within the interval, and
 * then at intervals that differ a little, lest they fall into step by anything else.
 *
 * @module
 */
import { ApiError } from "../shared/api/api_error.ts";
import type { Node } from "../shared/api/node.ts";
import type { Clock } from "../shared/clock.ts";
import { isUnreachable } from "../shared/control/brief_failure.ts";
import type { Log } from "../shared/log.ts";
import type { Random } from "../shared/random.ts";
import type { NodeLink } from "./ports.ts";

/** What the heartbeat works with. */
export interface HeartbeatParts {
  readonly link: NodeLink;
  readonly clock: Clock;
  /** Spreads the agents of a cluster. */
  readonly random: Random;
  readonly log: Log;
}

/** Settings of the heartbeat; times in milliseconds. */
export interface HeartbeatOptions {
  /** Mean time between two renewals of the lease. @default {60000} */
  readonly heartbeatMs?: number;
  /** The node's conditions are looked at this often at least, and a tenth oftener on average. @default {15000} */
  readonly nodeLookMs?: number;
  /** Called with the node at each look. */
  readonly seen: (node: Node) => void;
}

/** Looks come up to this share of their time sooner, so that none comes later than was promised. */
const LOOK_SPREAD = 0.2;
/** Renewals come up to this share sooner or later: on average there are as many as was set. */
const LEASE_SPREAD = 0.1;
/** What failed is tried again after this long or up to half sooner, unless the server says when. */
const RETRY_MS = 5000;
/** But the server is not let put it off for longer than this share of the lease's time. */
const MOST_WAIT = 0.5;

/**
 * Looks at the node and renews the lease until the signal is aborted. The lease is renewed only after
 * a look that succeeded: an agent that can't see its node does no work.
 */
export async function runHeartbeat(
  { link, clock, random, log }: HeartbeatParts,
  signal: AbortSignal,
  { heartbeatMs = 60_000, nodeLookMs = 15_000, seen }: HeartbeatOptions,
): Promise<void> {
  let lookDueMs = -Infinity;
  let leaseDueMs = -Infinity;
  /** True where other agents may come at the same moment. */
  let inStep = true;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number;
    let doing = "look at the node";
    try {
      if (clock.monotonic() >= lookDueMs) {
        seen(await link.node());
        const part = inStep ? random.next() : 1 - LOOK_SPREAD * random.next();
        lookDueMs = clock.monotonic() + nodeLookMs * part;
      }
      if (clock.monotonic() >= leaseDueMs) {
        doing = "renew the lease";
        await link.renewLease();
        const part = inStep ? random.next() : 1 + LEASE_SPREAD * (2 * random.next() - 1);
        leaseDueMs = clock.monotonic() + heartbeatMs * part;
      }
      inStep = false;
      failures = 0;
      waitMs = Math.max(1, Math.min(lookDueMs, leaseDueMs) - clock.monotonic());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // An outage is told of once.
      const level = isUnreachable(error) && ++failures > 1 ? "debug" : "warn";
      log[level](`Cannot ${doing}`, { status: error.status, reason: error.reason });
      inStep = true;
      lookDueMs = -Infinity;
      // The lease must not run out for a word that any proxy on the way may have said.
      waitMs = error.retryAfterMs === undefined
        ? RETRY_MS * (1 - random.next() / 2)
        : Math.min(error.retryAfterMs, heartbeatMs * MOST_WAIT);
    }
    await clock.sleep(waitMs, signal);
  }
}
