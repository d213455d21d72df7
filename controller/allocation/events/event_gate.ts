/**
 * Limits repeated events, so that event streams stay readable and new events come through.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { EventSink, MarketEvent } from "../../../shared/api/ports.ts";

/** At most one event of a reason and key per object in this time, ms. */
const QUIET_MS = 5 * 60_000;
/** Interval of the checks for deferred events that are due, ms. */
const CHECK_MS = 10_000;

/** An event and its key. */
export interface GatedEvent extends MarketEvent {
  /** An event with another key passes at once; for instance a reason. */
  readonly key?: string;
}

interface Past {
  readonly at: number;
  readonly message: string;
  readonly dropped: number;
  /** The last dropped event, if it must follow later. */
  readonly held?: MarketEvent | undefined;
}

type Kinds = Map<string, Past>;

/** A sink with a memory of each object. */
export interface EventGate {
  /** Publishes the event now or later, or counts it. */
  emit(event: GatedEvent): void;
  /** Drops a deferred event of this reason: it no longer applies. */
  withdraw(podUID: string, reason: MarketEvent["reason"]): void;
  /** Forgets a deleted pod. */
  forget(podUID: string): void;
  /** Publishes deferred events when they are due, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * Makes a sink that passes one event of a reason and key in five minutes and counts the others. The
 * last dropped one follows at the end if its message is new and it is a warning or has no key.
 */
export function createEventGate(sink: EventSink, clock: Clock): EventGate {
  const past = new Map<string, Kinds>();

  function publish(
    event: MarketEvent,
    { kinds, kind, dropped }: { kinds: Kinds; kind: string; dropped: number },
  ): void {
    kinds.set(kind, { at: clock.monotonic(), message: event.message, dropped: 0 });
    const message = dropped === 0
      ? event.message
      : `${event.message} (and ${dropped} more since the last such event)`;
    sink.emit({ ...event, message });
  }

  function publishDue(): void {
    const before = clock.monotonic() - QUIET_MS;
    for (const [uid, kinds] of past) {
      for (const [kind, { at, dropped, held }] of kinds) {
        if (at > before) continue;
        if (held !== undefined) publish(held, { kinds, kind, dropped: Math.max(0, dropped - 1) });
        // The next event carries the count of repetitions.
        else if (dropped === 0) kinds.delete(kind);
      }
      if (kinds.size === 0) past.delete(uid);
    }
  }

  return {
    emit({ key = "", ...event }) {
      const { uid } = event.about;
      const kind = `${event.reason} ${key}`;
      const kinds: Kinds = past.get(uid) ?? new Map();
      past.set(uid, kinds);
      const last = kinds.get(kind);
      if (last === undefined || clock.monotonic() - last.at >= QUIET_MS) {
        return publish(event, { kinds, kind, dropped: last?.dropped ?? 0 });
      }
      const isNew = (key === "" || event.type === "Warning") && event.message !== last.message;
      // A node's or workload's pods say the same: they are no repetition.
      const more = event.pod === undefined ? 1 : 0;
      const dropped = last.dropped + more;
      kinds.set(kind, { ...last, dropped, held: isNew ? event : undefined });
    },
    withdraw(podUID, reason) {
      const kinds = past.get(podUID) ?? new Map<string, Past>();
      for (const [kind, one] of kinds) {
        if (kind.startsWith(`${reason} `)) kinds.set(kind, { ...one, held: undefined });
      }
    },
    forget: (podUID) => void past.delete(podUID),
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(CHECK_MS, signal);
        publishDue();
      }
    },
  };
}
