/**
 * Events to send, and series of repeated ones: the server counts a series in one object.
 *
 * @module
 */
import type { EventReason } from "../../../shared/api/reasons/event_reasons.ts";
import type { PlacementEventReason } from "../../../shared/api/reasons/placement_event_reasons.ts";
import type { RightsizingEventReason } from "../../../shared/api/reasons/rightsizing_event_reasons.ts";

/** An event on a pod, or on an object that the pod led to. */
export interface PodEvent {
  readonly namespace: string;
  readonly podName: string;
  readonly podUID: string;
  readonly type: "Normal" | "Warning";
  readonly reason: EventReason;
  readonly message: string;
  /** The object that it is about, which many pods share; absent: the pod. */
  readonly about?: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
}

/** An event on another object of a namespace: a policy, a workload. */
export interface ObjectEvent {
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

/** Either kind of event. */
export type SentEvent = PodEvent | ObjectEvent;

/** True for an event with a pod. */
export function isPodEvent(event: SentEvent): event is PodEvent {
  return "podUID" in event;
}

/** Keeps the last events. */
export interface EventSeries {
  /** Records that the event was created under this name. */
  begin(event: SentEvent, created: { readonly name: string; readonly nowMs: number }): void;
  /** The earlier event that this one repeats, and the new count; undefined for a new event. */
  repeat(
    event: SentEvent,
    nowMs: number,
  ): { readonly name: string; readonly count: number } | undefined;
}

interface CreatedEvent {
  readonly name: string;
  count: number;
  lastMs: number;
}

/** A later repetition is a new event: the interval in which client-go aggregates similar events. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Events that are kept; beyond it the one that was repeated longest ago is dropped. */
const CAPACITY = 4096;

/** Keeps no event yet. */
export function createEventSeries(): EventSeries {
  const known = new Map<string, CreatedEvent>();
  const keyOf = (event: SentEvent): string => {
    const uid = event.about?.uid ?? (isPodEvent(event) ? event.podUID : "");
    return JSON.stringify([uid, event.type, event.reason, event.message]);
  };

  /** A map keeps the order of insertion: its first event was repeated longest ago. */
  function keep(key: string, created: CreatedEvent): void {
    known.delete(key);
    known.set(key, created);
    for (const [old, { lastMs }] of known) {
      if (known.size <= CAPACITY && created.lastMs - lastMs <= LONGEST_PAUSE_MS) return;
      known.delete(old);
    }
  }

  return {
    begin(event, { name, nowMs }) {
      keep(keyOf(event), { name, count: 1, lastMs: nowMs });
    },
    repeat(event, nowMs) {
      const key = keyOf(event);
      const created = known.get(key);
      if (created === undefined || nowMs - created.lastMs > LONGEST_PAUSE_MS) return undefined;
      created.count++;
      created.lastMs = nowMs;
      keep(key, created);
      return { name: created.name, count: created.count };
    },
  };
}
