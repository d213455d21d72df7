/**
 * Whose resize is next when there are more than the rate allows: those that somebody waits for
 * first, then fair between namespaces, then the oldest.
 *
 * @module
 */
import { createRateLimiter } from "../../../shared/control/rate_limiter.ts";

/** One pod's wish for a turn. */
export interface TurnRequest {
  /** `namespace/podName`. */
  readonly podKey: string;
  /** True for a raise and for what pays for one. */
  readonly urgent: boolean;
  /** Ms of a monotonic clock. */
  readonly nowMs: number;
}

/** The turns of all resizes. */
export interface Turns {
  /**
   * Takes the pod's turn and returns 0, or returns when to ask again, ms; the pod keeps its place in
   * the line if it does so.
   */
  take(request: TurnRequest): number;
  /** Hands out nothing before `untilMs`, for instance because the server asked for it. */
  holdUntil(untilMs: number): void;
}

interface Waiting {
  readonly podKey: string;
  readonly urgent: boolean;
  /** When the pod first asked, ms. */
  readonly sinceMs: number;
  /** When it was told to ask again, ms. */
  readonly dueMs: number;
}

/** Changes that nobody waits for may take this share of the rate. */
const UNHURRIED_SHARE = 0.5;
/** A pod that does not ask again for this long after its time has left the line, ms. */
const PATIENCE_MS = 2000;

function namespaceOf(podKey: string): string {
  return podKey.slice(0, podKey.indexOf("/"));
}

/** A line that nobody stands in. Throws a `RangeError` when the rate is not above 0. */
export function createTurns({ perSecond }: { readonly perSecond: number }): Turns {
  const burst = Math.max(1, Math.ceil(perSecond));
  const all = createRateLimiter({ perSecond, burst });
  const unhurried = createRateLimiter({ perSecond: perSecond * UNHURRIED_SHARE, burst });
  const line = new Map<string, Waiting>();
  // Turns that each namespace had, counted from those of the one that was served last: one that
  // comes late does not make up for the past (start-time fair queueing, Goyal et al., 1996).
  const served = new Map<string, number>();
  let present = 0;

  function dropLost(nowMs: number): void {
    for (const [key, { dueMs }] of line) {
      if (dueMs + PATIENCE_MS < nowMs) line.delete(key);
    }
  }

  /** How many of the line go before the pod. */
  function before(podKey: string): number {
    const counts = new Map<string, number>();
    const oldestFirst = [...line.values()].sort((a, b) =>
      Number(b.urgent) - Number(a.urgent) || a.sinceMs - b.sinceMs
    );
    const ranked = oldestFirst.map((waiting) => {
      const namespace = namespaceOf(waiting.podKey);
      const rank = counts.get(namespace) ?? Math.max(present, served.get(namespace) ?? 0);
      counts.set(namespace, rank + 1);
      return { ...waiting, rank };
    });
    ranked.sort((a, b) =>
      Number(b.urgent) - Number(a.urgent) || a.rank - b.rank || a.sinceMs - b.sinceMs
    );
    return ranked.findIndex((waiting) => waiting.podKey === podKey);
  }

  function serve(podKey: string, nowMs: number): void {
    const namespace = namespaceOf(podKey);
    present = Math.max(present, served.get(namespace) ?? 0);
    served.set(namespace, present + 1);
    line.delete(podKey);
    all.take(nowMs);
    for (const [name, count] of served) {
      if (count <= present) served.delete(name);
    }
  }

  return {
    take({ podKey, urgent, nowMs }) {
      dropLost(nowMs);
      const sinceMs = line.get(podKey)?.sinceMs ?? nowMs;
      line.set(podKey, { podKey, urgent, sinceMs, dueMs: nowMs });
      const ahead = line.size === 1 ? 0 : before(podKey);
      const waitMs = Math.max(
        all.wait(nowMs, ahead + 1),
        urgent ? 0 : unhurried.wait(nowMs),
      );
      if (waitMs > 0) {
        line.set(podKey, { podKey, urgent, sinceMs, dueMs: nowMs + waitMs });
        return waitMs;
      }
      if (!urgent) unhurried.take(nowMs);
      serve(podKey, nowMs);
      return 0;
    },
    holdUntil: all.holdUntil,
  };
}
