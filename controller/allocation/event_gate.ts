/**
 * Keeps a pod's event stream readable.
 *
 * @module
 */
import type { Clock } from "../../shared/clock.ts";
import type { EventSink, PodEvent } from "./ports.ts";

/** At most one event of a kind per pod in this time, ms. */
const QUIET_MS = 5 * 60_000;

interface Past {
  readonly at: number;
  readonly dropped: number;
}

/** A sink with a memory of each pod. */
export interface EventGate extends EventSink {
  /** Forgets a pod that is gone. */
  forget(podUID: string): void;
}

/** A sink that lets one event of a kind per pod through in five minutes and counts the others. */
export function createEventGate(sink: EventSink, clock: Clock): EventGate {
  const past = new Map<string, Map<PodEvent["reason"], Past>>();
  return {
    emit(event) {
      const now = clock.monotonic();
      const kinds = past.get(event.podUID) ?? new Map<PodEvent["reason"], Past>();
      past.set(event.podUID, kinds);
      const last = kinds.get(event.reason);
      if (last !== undefined && now - last.at < QUIET_MS) {
        kinds.set(event.reason, { at: last.at, dropped: last.dropped + 1 });
        return;
      }
      kinds.set(event.reason, { at: now, dropped: 0 });
      const dropped = last?.dropped ?? 0;
      const message = dropped === 0
        ? event.message
        : `${event.message} (and ${dropped} more since the last such event)`;
      sink.emit({ ...event, message });
    },
    forget: (podUID) => void past.delete(podUID),
  };
}
