/**
 * Sends events (`events.k8s.io/v1`) on pods, nodes, workloads and policies, as `kubectl describe` shows
 * them. The server counts a series of repeated events in one object.
 *
 * @module
 */
import type { ObjectEvent } from "../../../shared/api/ports.ts";
import { EVENT_REASONS } from "../../../shared/api/reasons/enforcement_reasons.ts";
import { PLACEMENT_EVENT_REASONS } from "../../../shared/api/reasons/placement_reasons.ts";
import type { Clock } from "../../../shared/clock.ts";
import { cutToBytes } from "../../../shared/quoted_text.ts";
import type { Log } from "../../../shared/log.ts";
import {
  type KubeConnection,
  patchRequest,
  resourcePath,
  unlessNotFound,
} from "../client/connection.ts";
import { formatMicroTime } from "../kinds/object_fields.ts";

/** Recognizes repeated events. */
export interface EventSeries {
  /** Records that the event was created under this name. */
  begin(event: ObjectEvent, created: { readonly name: string; readonly nowMs: number }): void;
  /** The earlier event that this one repeats, and the new count; undefined for a new event. */
  repeat(
    event: ObjectEvent,
    nowMs: number,
  ): { readonly name: string; readonly count: number } | undefined;
}

interface CreatedEvent {
  readonly name: string;
  count: number;
  lastMs: number;
}

/** A repetition after this time, ms, is a new event; client-go aggregates events over the same interval. */
const LONGEST_PAUSE_MS = 10 * 60_000;

/** Most events; the one that was repeated longest ago is dropped first. */
const CAPACITY = 4096;

/** Creates a series without events. */
export function createEventSeries(): EventSeries {
  const known = new Map<string, CreatedEvent>();
  const keyOf = ({ about, type, reason, message }: ObjectEvent): string =>
    JSON.stringify([about.uid, type, reason, message]);

  /** Inserts the event anew, so that the first one of the map was repeated longest ago. */
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

/** Takes events and sends them. */
export interface KubeEventSink {
  /** Queues an event, warnings first. A full queue drops its oldest event that is no warning. */
  emit(event: ObjectEvent): void;
  /** Sends queued events until `signal` is aborted; then drops the rest. Never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** Options of the sink. */
export interface EventSinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** The instance that reports, for instance the pod's name. */
  readonly instance?: string;
  /** Events in the queue. @default {1000} */
  readonly capacity?: number;
}

const CONTROLLER = "mbcas.io/controller";

/** The server rejects longer notes, and counts bytes (`NoteLengthLimit`, pkg/apis/core/validation). */
const LONGEST_NOTE = 1024;

/** The namespace of events about objects without one (`legacyValidateEvent`, in the same place). */
const CLUSTER_NAMESPACE = "default";

/** Creates a sink; it sends nothing before it runs. */
export function createEventSink(
  connection: KubeConnection,
  options: EventSinkOptions,
): KubeEventSink {
  const { clock, log, instance = CONTROLLER, capacity = 1000 } = options;
  const warnings: ObjectEvent[] = [];
  const others: ObjectEvent[] = [];
  let dropped = 0;
  let wake = (): void => {};
  const series = createEventSeries();
  let lastStamp = 0;

  /** Unique microseconds as in client-go: a policy and its workload may have the same name. */
  function stampOf(nowMs: number): string {
    lastStamp = Math.max(Math.floor(nowMs * 1000), lastStamp + 1);
    return lastStamp.toString(16);
  }

  async function createEvent(event: ObjectEvent, signal: AbortSignal): Promise<void> {
    const nowMs = clock.wall();
    // As in client-go: the object's name and the time in hex. A part of a DNS subdomain ends in a letter or a
    // digit.
    const name = `${event.about.name.slice(0, 200).replace(/[-.]+$/, "")}.${stampOf(nowMs)}`;
    await connection.request({
      method: "POST",
      path: eventPath(event),
      signal,
      body: eventBody(event, { name, nowMs, instance }),
    });
    series.begin(event, { name, nowMs });
  }

  async function send(event: ObjectEvent, signal: AbortSignal): Promise<void> {
    const repeated = series.repeat(event, clock.wall());
    if (repeated === undefined) return await createEvent(event, signal);
    const lastObservedTime = formatMicroTime(clock.wall());
    const body = { series: { count: repeated.count, lastObservedTime } };
    const path = eventPath(event, repeated.name);
    const patch = patchRequest("merge", { path, body, signal });
    const patched = await unlessNotFound(connection.request(patch).then(() => true));
    // Events expire, after an hour by default.
    if (patched === undefined) await createEvent(event, signal);
  }

  return {
    emit(event) {
      (event.type === "Warning" ? warnings : others).push(event);
      if (warnings.length + others.length > capacity) {
        (others.length > 0 ? others : warnings).shift();
        dropped++;
      }
      wake();
    },
    async run(signal) {
      signal.addEventListener("abort", () => wake(), { once: true });
      while (!signal.aborted) {
        const event = warnings.shift() ?? others.shift();
        if (event === undefined) {
          const { promise, resolve } = Promise.withResolvers<void>();
          wake = resolve;
          await promise;
          continue;
        }
        try {
          await send(event, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.debug("An event was lost", { reason: event.reason, error: String(error) });
        }
        if (dropped > 0) log.warn("Events were lost", { count: dropped });
        dropped = 0;
      }
    },
  };
}

function eventPath(event: ObjectEvent, name?: string): string {
  const namespace = namespaceOf(event);
  const events = { groupVersion: "events.k8s.io/v1", resource: "events", namespace };
  return resourcePath(name === undefined ? events : { ...events, name });
}

function eventBody(
  event: ObjectEvent,
  { name, nowMs, instance }: {
    readonly name: string;
    readonly nowMs: number;
    readonly instance: string;
  },
): unknown {
  return {
    apiVersion: "events.k8s.io/v1",
    kind: "Event",
    metadata: { namespace: namespaceOf(event), name },
    eventTime: formatMicroTime(nowMs),
    reportingController: CONTROLLER,
    reportingInstance: instance.slice(0, 128),
    action: actionOf(event),
    reason: event.reason,
    type: event.type,
    note: cutToBytes(event.message, LONGEST_NOTE),
    regarding: event.about,
    ...(event.pod === undefined ? {} : {
      related: { apiVersion: "v1", kind: "Pod", ...event.pod },
    }),
  };
}

/** The namespace in which the event is created. */
function namespaceOf({ about }: ObjectEvent): string {
  return about.namespace ?? CLUSTER_NAMESPACE;
}

function actionOf({ reason }: ObjectEvent): string {
  if (Object.hasOwn(EVENT_REASONS, reason)) return "Resize";
  return Object.hasOwn(PLACEMENT_EVENT_REASONS, reason) ? "Place" : "Rightsize";
}
