/**
 * Reads the node's conditions and renews the agent's lease, again and again.
 *
 * A rollout starts a cluster's agents together, and an outage makes them fail together. So after a start or
 * a failure each agent's first request is anywhere within the interval, and later intervals differ a
 * little.
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

/** Longest interval between two readings of the node, and the share by which it may be shorter. */
const READ = { ms: 15_000, spread: 0.2 } as const;
/** Share by which the interval of renewals may be shorter or longer. */
const LEASE_SPREAD = 0.1;
/** Longest wait after a failure, down to half of it, unless the server asks for a time. */
const RETRY_MS = 5000;
/** Longest wait that the server may ask for, as a share of the heartbeat's interval. */
const MAX_RETRY_AFTER = 0.5;

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
  { heartbeatMs, onNode }: {
    readonly heartbeatMs: number;
    /** Called with the node at each reading. */
    readonly onNode: (node: Node) => void;
  },
): Promise<void> {
  let readDueMs = -Infinity;
  let leaseDueMs = -Infinity;
  /** True after a start or a failure, when other agents may send requests at the same moment. */
  let inStep = true;
  let failures = 0;
  while (!signal.aborted) {
    let waitMs: number;
    let doing = "read the node";
    try {
      if (clock.monotonic() >= readDueMs) {
        onNode(await link.node());
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
      // The lease must not run out because of an answer that any proxy may have given.
      waitMs = error.retryAfterMs === undefined
        ? RETRY_MS * (1 - random.next() / 2)
        : Math.min(error.retryAfterMs, heartbeatMs * MAX_RETRY_AFTER);
    }
    await clock.sleep(waitMs, signal);
  }
}
