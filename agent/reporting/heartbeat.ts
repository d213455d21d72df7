/**
 * Reads the node's conditions and renews the agent's lease, again and again.
 *
 * The agents of a cluster are started together by a rollout, and fail together when the server does.
 * So each comes at a time of its own: after a start or a failure anywhere within the interval, and
 * then at intervals that differ a little, lest they fall into step by anything else.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Node } from "../../shared/api/node.ts";
import type { Clock } from "../../shared/clock.ts";
import { isUnreachable } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { Random } from "../../shared/random.ts";
import type { NodeLink } from "../../shared/api/ports.ts";

/**
 * The node is read this often at least, ms; up to this share of the time sooner, so that no reading
 * comes later than was promised.
 */
const READ = { ms: 15_000, spread: 0.2 } as const;
/** Renewals come up to this share sooner or later: on average there are as many as was set. */
const LEASE_SPREAD = 0.1;
/** A failure is retried after this long or up to half sooner, unless the server sets a time. */
const RETRY_MS = 5000;
/** But the server is not let put it off for longer than this share of the lease's time. */
const MOST_WAIT = 0.5;

/**
 * Reads the node and renews the lease, every `heartbeatMs` on average, until the signal is aborted. The
 * lease is renewed only after a reading that succeeded: an agent that can't see its node does no work.
 */
export async function runHeartbeat(
  { link, clock, random, log }: {
    readonly link: NodeLink;
    readonly clock: Clock;
    /** Spreads the agents of a cluster. */
    readonly random: Random;
    readonly log: Log;
  },
  signal: AbortSignal,
  { heartbeatMs, seen }: {
    readonly heartbeatMs: number;
    /** Called with the node at each reading. */
    readonly seen: (node: Node) => void;
  },
): Promise<void> {
  let readDueMs = -Infinity;
  let leaseDueMs = -Infinity;
  /** True where other agents may come at the same moment. */
  let inStep = true;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number;
    let doing = "read the node";
    try {
      if (clock.monotonic() >= readDueMs) {
        seen(await link.node());
        const part = inStep ? random.next() : 1 - READ.spread * random.next();
        readDueMs = clock.monotonic() + READ.ms * part;
      }
      if (clock.monotonic() >= leaseDueMs) {
        doing = "renew the lease";
        await link.renewLease();
        const part = inStep ? random.next() : 1 + LEASE_SPREAD * (2 * random.next() - 1);
        leaseDueMs = clock.monotonic() + heartbeatMs * part;
      }
      inStep = false;
      failures = 0;
      waitMs = Math.max(1, Math.min(readDueMs, leaseDueMs) - clock.monotonic());
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // An outage is logged once.
      const level = isUnreachable(error) && ++failures > 1 ? "debug" : "warn";
      log[level](`Cannot ${doing}`, { status: error.status, reason: error.reason });
      inStep = true;
      readDueMs = -Infinity;
      // The lease must not run out for an answer that any proxy on the way may have given.
      waitMs = error.retryAfterMs === undefined
        ? RETRY_MS * (1 - random.next() / 2)
        : Math.min(error.retryAfterMs, heartbeatMs * MOST_WAIT);
    }
    await clock.sleep(waitMs, signal);
  }
}
