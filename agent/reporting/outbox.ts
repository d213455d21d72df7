/**
 * Writes on their way to the API: per allocation only the newest counts.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Desired } from "../../shared/api/pod_allocation.ts";
import type { Clock } from "../../shared/clock.ts";
import { createBackoff, retryLevel } from "../../shared/control/backoff.ts";
import type { Log } from "../../shared/log.ts";
import type { DesiredWriter } from "../../shared/api/ports.ts";
import type { DesiredWrite, Written } from "./desired.ts";

/** Retries of one write: first wait and longest wait, ms. */
const RETRY = { minMs: 500, maxMs: 30_000 } as const;

/** Takes writes and sends them. */
export interface Outbox {
  /** Queues a write in place of a waiting one to the same allocation. */
  put(write: DesiredWrite): void;
  /** The last write to each allocation, sent or not, by its UID. */
  readonly written: ReadonlyMap<string, Written>;
  /** Drops the writes to allocations that are not among these UIDs. */
  keepOnly(uids: ReadonlySet<string>): void;
  /** Sends until the signal is aborted. Throws what a write threw unless it is an `ApiError`. */
  run(signal: AbortSignal): Promise<void>;
}

/** The desired limits with `clearedAt`: the time at which they are sent. */
function withTime(clock: Pick<Clock, "wall">, { desired }: DesiredWrite): Desired {
  const { market } = desired;
  if (market === undefined) return desired;
  return { ...desired, market: { ...market, clearedAt: new Date(clock.wall()).toISOString() } };
}

/**
 * An outbox. Each allocation has one write under way at a time, so that an older value can't
 * overtake a newer one; different allocations don't wait for each other.
 */
export function createOutbox({ writer, clock, log }: {
  readonly writer: DesiredWriter;
  readonly clock: Clock;
  readonly log: Log;
}): Outbox {
  const waiting = new Map<string, DesiredWrite>();
  const written = new Map<string, Written>();
  const sending = new Map<string, Promise<void>>();
  const backoff = createBackoff(RETRY);
  let wake: () => void = () => {};
  let failure: { readonly error: unknown } | undefined;

  async function send(uid: string, signal: AbortSignal): Promise<void> {
    for (let write = waiting.get(uid); write !== undefined; write = waiting.get(uid)) {
      if (signal.aborted) return;
      waiting.delete(uid);
      const { namespace, name } = write.allocation.metadata;
      try {
        const version = await writer.writeDesired(
          { namespace, name, uid },
          withTime(clock, write),
        );
        const last = written.get(uid);
        if (last?.desired === write.desired) {
          written.set(uid, { ...last, sent: { at: clock.monotonic(), version } });
        }
        backoff.reset(uid);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The allocation is gone.
        if (!written.has(uid)) continue;
        const { status, reason } = error;
        const waitMs = backoff.next(uid, error);
        // After a 404 the copy soon shows whether the allocation is gone.
        const level = status === 404 ? "debug" : retryLevel(error, waitMs);
        log[level]("Cannot write an allocation", { key: write.key, status, reason, waitMs });
        // A write that was dropped or replaced meanwhile is not sent again.
        if (written.get(uid)?.desired === write.desired) waiting.set(uid, write);
        await clock.sleep(waitMs, signal);
      }
    }
  }

  return {
    put: (write) => {
      const { uid } = write.allocation.metadata;
      waiting.set(uid, write);
      written.set(uid, write);
      wake();
    },
    written,
    keepOnly: (uids) => {
      for (const uid of written.keys()) {
        if (uids.has(uid)) continue;
        written.delete(uid);
        waiting.delete(uid);
        backoff.reset(uid);
      }
    },
    run: async (signal) => {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted && failure === undefined) {
        for (const uid of waiting.keys()) {
          if (sending.has(uid)) continue;
          const done = send(uid, signal).catch((error: unknown) => {
            failure ??= { error };
          }).finally(() => {
            sending.delete(uid);
            wake();
          });
          sending.set(uid, done);
        }
        await new Promise<void>((resolve) => wake = resolve);
      }
      if (failure !== undefined) throw failure.error;
      await Promise.all(sending.values());
    },
  };
}
