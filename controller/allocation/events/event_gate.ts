/**
 * Limits repeated events, so that event streams stay readable and new events come through.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { EventSink, MarketEvent } from "../../../shared/api/ports.ts";

/** At most one event of a series in this time, ms. */
const QUIET_MS = 5 * 60_000;
/** Interval of the checks for deferred events that are due, ms. */
const CHECK_MS = 10_000;

/** An event and its key. */
export interface GatedEvent extends MarketEvent {
  /** Events with different keys are not repetitions of each other. @default {""} */
  readonly key?: string;
}

/** Events about one object with the same reason and key. */
interface EventSeries {
  readonly publishedAtMs: number;
  readonly message: string;
  /** Repetitions since then. */
  readonly dropped: number;
  /** The last repetition, if it must be published later. */
  readonly deferred?: MarketEvent | undefined;
}

/** The series of an object, by reason and key. */
type ObjectSeries = Map<string, EventSeries>;

/** A sink that limits repetitions. */
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
 * Passes one event of a series in five minutes and counts the others. The last of them follows after
 * that time if its message is new and it is a warning or has no key.
 */
export function createEventGate(sink: EventSink, clock: Clock): EventGate {
  const seriesByUID = new Map<string, ObjectSeries>();

  function publish(
    event: MarketEvent,
    { all, id, dropped }: { all: ObjectSeries; id: string; dropped: number },
  ): void {
    all.set(id, { publishedAtMs: clock.monotonic(), message: event.message, dropped: 0 });
    const message = dropped === 0
      ? event.message
      : `${event.message} (and ${dropped} more since the last such event)`;
    sink.emit({ ...event, message });
  }

  function publishDue(): void {
    const before = clock.monotonic() - QUIET_MS;
    for (const [uid, all] of seriesByUID) {
      for (const [id, { publishedAtMs, dropped, deferred }] of all) {
        if (publishedAtMs > before) continue;
        if (deferred !== undefined) {
          publish(deferred, { all, id, dropped: Math.max(0, dropped - 1) });
        } // The next event carries the count of repetitions.
        else if (dropped === 0) all.delete(id);
      }
      if (all.size === 0) seriesByUID.delete(uid);
    }
  }

  return {
    emit({ key = "", ...event }) {
      const { uid } = event.about;
      const id = `${event.reason} ${key}`;
      const all: ObjectSeries = seriesByUID.get(uid) ?? new Map();
      seriesByUID.set(uid, all);
      const last = all.get(id);
      if (last === undefined || clock.monotonic() - last.publishedAtMs >= QUIET_MS) {
        return publish(event, { all, id, dropped: last?.dropped ?? 0 });
      }
      const isNew = (key === "" || event.type === "Warning") && event.message !== last.message;
      // The pods of a node or workload cause the same event about it: those are no repetitions.
      const dropped = last.dropped + (event.pod === undefined ? 1 : 0);
      all.set(id, { ...last, dropped, deferred: isNew ? event : undefined });
    },
    withdraw(podUID, reason) {
      const all: ObjectSeries = seriesByUID.get(podUID) ?? new Map();
      for (const [id, series] of all) {
        if (id.startsWith(`${reason} `)) all.set(id, { ...series, deferred: undefined });
      }
    },
    forget: (podUID) => void seriesByUID.delete(podUID),
    async run(signal) {
      while (!signal.aborted) {
        await clock.sleep(CHECK_MS, signal);
        publishDue();
      }
    },
  };
}
