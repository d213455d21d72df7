/**
 * Which events are repetitions: the server then counts instead of keeping one more object.
 *
 * @module
 */
import type { EventReason } from "../../shared/api/reasons/event_reasons.ts";
import type { PlacementEventReason } from "../../shared/api/reasons/placement_event_reasons.ts";
import type { RightsizingEventReason } from "../../shared/api/reasons/rightsizing_event_reasons.ts";

/** An event on a pod. */
export interface PodNote {
  readonly namespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
  /** What it is about that many pods share, by way of the pod; absent: the pod. */
  readonly about?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
}

/** An event on an object of a namespace that no pod has come up for: a policy, a workload. */
export interface SubjectNote {
  readonly about: {
    /** For instance `apps/v1`. */
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: RightsizingEventReason | PlacementEventReason;
  readonly message: string;
}

/** Either. */
export type EventNote = PodNote | SubjectNote;

/** True for an event that came about by a pod. */
export function isPodNote(note: EventNote): note is PodNote {
  return "podUID" in note;
}

/** Remembers the last events. */
export interface EventSeries {
  /** The event was made under this name. */
  begin(note: EventNote, made: { readonly name: string; readonly nowMs: number }): void;
  /** The earlier event that this one repeats, and how often now; undefined for a new one. */
  repeat(
    note: EventNote,
    nowMs: number,
  ): { readonly name: string; readonly count: number } | undefined;
}

interface Made {
  readonly name: string;
  count: number;
  lastMs: number;
}

/** A later repetition is a new event: the interval in which client-go aggregates similar events. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Events that are remembered; beyond it the one repeated longest ago is forgotten first. */
const CAPACITY = 4096;

/** A memory without events. */
export function createEventSeries(): EventSeries {
  const known = new Map<string, Made>();
  const keyOf = (note: EventNote): string => {
    const uid = note.about?.uid ?? (isPodNote(note) ? note.podUID : "");
    return JSON.stringify([uid, note.type, note.reason, note.message]);
  };

  /** A map keeps the order in which keys were set: its first event is the one repeated longest ago. */
  function remember(key: string, made: Made): void {
    known.delete(key);
    known.set(key, made);
    for (const [old, { lastMs }] of known) {
      if (known.size <= CAPACITY && made.lastMs - lastMs <= LONGEST_PAUSE_MS) return;
      known.delete(old);
    }
  }

  return {
    begin(note, { name, nowMs }) {
      remember(keyOf(note), { name, count: 1, lastMs: nowMs });
    },
    repeat(note, nowMs) {
      const key = keyOf(note);
      const made = known.get(key);
      if (made === undefined || nowMs - made.lastMs > LONGEST_PAUSE_MS) return undefined;
      made.count++;
      made.lastMs = nowMs;
      remember(key, made);
      return { name: made.name, count: made.count };
    },
  };
}
