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
  /** The last write to each allocation, sent or not. */
  readonly written: ReadonlyMap<string, Written>;
  /** Drops the writes to allocations that are not among these keys. */
  keepOnly(keys: ReadonlySet<string>): void;
  /** Sends until the signal is aborted. Throws what a write threw unless it is an `ApiError`. */
  run(signal: AbortSignal): Promise<void>;
}

/** The desired limits with `clearedAt`: the time at which they are sent. */
function withTime(clock: Pick<Clock, "wall">, { desired }: DesiredWrite): Desired {
  const { market } = desired;
  if (market === undefined) return desired;
  return { ...desired, market: { ...market, clearedAt: new Date(clock.wall()).toISOString() } };
}

/** Waits before another attempt, by key of an allocation. */
interface Retries {
  /** How long to wait after this error, ms. */
  next(key: string, error: unknown): number;
  wait(key: string, waitMs: number, signal: AbortSignal): Promise<void>;
  /** Ends the wait; the next failure counts as the first. */
  reset(key: string): void;
}

function createRetries(clock: Pick<Clock, "sleep">): Retries {
  const backoff = createBackoff(RETRY);
  const waits = new Map<string, AbortController>();
  return {
    next: (key, error) => backoff.next(key, error),
    async wait(key, waitMs, signal) {
      const ended = new AbortController();
      waits.set(key, ended);
      await clock.sleep(waitMs, AbortSignal.any([signal, ended.signal]));
      waits.delete(key);
    },
    reset(key) {
      backoff.reset(key);
      waits.get(key)?.abort();
    },
  };
}

function uidOf({ allocation }: DesiredWrite): string {
  return allocation.metadata.uid;
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
  const retries = createRetries(clock);
  let wake: () => void = () => {};
  let failure: { readonly error: unknown } | undefined;

  async function send(key: string, signal: AbortSignal): Promise<void> {
    for (let write = waiting.get(key); write !== undefined; write = waiting.get(key)) {
      if (signal.aborted) return;
      waiting.delete(key);
      const { namespace, name, uid } = write.allocation.metadata;
      try {
        const version = await writer.writeDesired(
          { namespace, name, uid },
          withTime(clock, write),
        );
        const last = written.get(key);
        if (last?.desired === write.desired) {
          written.set(key, { ...last, sent: { at: clock.monotonic(), version } });
        }
        retries.reset(key);
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        // The allocation is gone.
        if (!written.has(key)) continue;
        const { status, reason } = error;
        const waitMs = retries.next(key, error);
        // After a 404 the copy soon shows whether the allocation is gone.
        const level = status === 404 ? "debug" : retryLevel(error, waitMs);
        log[level]("Cannot write an allocation", { key, status, reason, waitMs });
        // A write that was dropped or replaced meanwhile is not sent again.
        if (written.get(key)?.desired === write.desired) waiting.set(key, write);
        await retries.wait(key, waitMs, signal);
      }
    }
  }

  return {
    put: (write) => {
      // The write that waits was refused for an allocation that has been replaced.
      if (uidOf(waiting.get(write.key) ?? write) !== uidOf(write)) retries.reset(write.key);
      waiting.set(write.key, write);
      written.set(write.key, write);
      wake();
    },
    written,
    keepOnly: (keys) => {
      for (const key of written.keys()) {
        if (keys.has(key)) continue;
        written.delete(key);
        waiting.delete(key);
        retries.reset(key);
      }
    },
    run: async (signal) => {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted && failure === undefined) {
        for (const key of waiting.keys()) {
          if (sending.has(key)) continue;
          const done = send(key, signal).catch((error: unknown) => {
            failure ??= { error };
          }).finally(() => {
            sending.delete(key);
            wake();
          });
          sending.set(key, done);
        }
        await new Promise<void>((resolve) => wake = resolve);
      }
      if (failure !== undefined) throw failure.error;
      await Promise.all(sending.values());
    },
  };
}
