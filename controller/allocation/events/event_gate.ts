/**
 * Keeps event streams readable, without losing what is new.
 *
 * @module
 */
import type { Clock } from "../../../shared/clock.ts";
import type { EventSink, PodEvent } from "../ports.ts";

/** At most one event of a kind and word per object in this time, ms. */
const QUIET_MS = 5 * 60_000;
/** How often to look for what was held back long enough, ms. */
const LOOK_MS = 10_000;

/** An event and what it is about in a word. */
export interface GatedEvent extends PodEvent {
  /** Another word is other news and comes through at once, for instance a reason word. */
  readonly word?: string;
}

interface Past {
  readonly at: number;
  /** The text that was told. */
  readonly told: string;
  readonly dropped: number;
  /** The last that was dropped, if its text is to be told later. */
  readonly held?: PodEvent | undefined;
}

type Kinds = Map<string, Past>;

/** A sink with a memory of each object. */
export interface EventGate {
  /** Tells it now, or later, or counts it. */
  emit(event: GatedEvent): void;
  /** What was held back of this kind is no longer so. */
  withdraw(podUID: string, reason: PodEvent["reason"]): void;
  /** Forgets a pod that is gone. */
  forget(podUID: string): void;
  /** Tells what was held back when its time has come, until `signal` is aborted. */
  run(signal: AbortSignal): Promise<void>;
}

/**
 * A sink that lets one event of a kind and word through in five minutes and counts the others. Of
 * those that are no mere repetition the last one follows at the end: all warnings, and what has no
 * word.
 */
export function createEventGate(sink: EventSink, clock: Clock): EventGate {
  const past = new Map<string, Kinds>();

  function tell(
    event: PodEvent,
    { kinds, kind, dropped }: { kinds: Kinds; kind: string; dropped: number },
  ): void {
    kinds.set(kind, { at: clock.monotonic(), told: event.message, dropped: 0 });
    const message = dropped === 0
      ? event.message
      : `${event.message} (and ${dropped} more since the last such event)`;
    sink.emit({ ...event, message });
  }

  function look(): void {
    const before = clock.monotonic() - QUIET_MS;
    for (const [uid, kinds] of past) {
      for (const [kind, { at, dropped, held }] of kinds) {
        if (at > before) continue;
        if (held !== undefined) tell(held, { kinds, kind, dropped: Math.max(0, dropped - 1) });
        // Repetitions are told with the next one: that costs no event.
        else if (dropped === 0) kinds.delete(kind);
      }
      if (kinds.size === 0) past.delete(uid);
    }
  }

  return {
    emit({ word = "", ...event }) {
      const uid = event.about?.uid ?? event.podUID;
      const kind = `${event.reason} ${word}`;
      const kinds: Kinds = past.get(uid) ?? new Map();
      past.set(uid, kinds);
      const last = kinds.get(kind);
      if (last === undefined || clock.monotonic() - last.at >= QUIET_MS) {
        return tell(event, { kinds, kind, dropped: last?.dropped ?? 0 });
      }
      const isNews = (word === "" || event.type === "Warning") && event.message !== last.told;
      // A node's or workload's pods say the same: they are no repetition.
      const more = event.about === undefined ? 1 : 0;
      const dropped = last.dropped + more;
      kinds.set(kind, { ...last, dropped, held: isNews ? event : undefined });
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
        await clock.sleep(LOOK_MS, signal);
        look();
      }
    },
  };
}
