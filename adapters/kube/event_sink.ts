/**
 * Events (`events.k8s.io/v1`) on pods, nodes, workloads and policies: what `kubectl describe` shows.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { PLACEMENT_EVENT_REASONS } from "../../shared/api/reasons/placement_event_reasons.ts";
import type { Clock } from "../../shared/clock.ts";
import { cutToBytes } from "../../shared/cut_to_bytes.ts";
import type { Log } from "../../shared/log.ts";
import { type KubeConnection, pathPart } from "./connection.ts";
import { createEventSeries, type EventNote, isPodNote } from "./event_series.ts";
import { formatMicroTime } from "./micro_time.ts";
import { createNoteQueue } from "./note_queue.ts";

/** Where events go: the controller's ports of events, of both clocks, with a loop that sends them. */
export interface KubeEventSink {
  /**
   * Takes an event to be sent soon, warnings first. When too many wait, the oldest that is no warning
   * is lost.
   */
  emit(event: EventNote): void;
  /** Sends what was taken until `signal` is aborted; then what still waits is lost. Never throws. */
  run(signal: AbortSignal): Promise<void>;
}

/** What a sink needs. */
export interface EventSinkOptions {
  readonly clock: Clock;
  readonly log: Log;
  /** Which of several equal programs reports, for instance the pod's name. */
  readonly instance?: string;
  /**
   * Events that may wait.
   *
   * @default {1000}
   */
  readonly capacity?: number;
}

const CONTROLLER = "mbcas.io/controller";

/** The server refuses longer notes, and counts bytes (`NoteLengthLimit`, pkg/apis/core/validation). */
const LONGEST_NOTE = 1024;

/** Events about what has no namespace stand here (`legacyValidateEvent`, in the same place). */
const CLUSTER_NAMESPACE = "default";

/** Where the event stands. */
function namespaceOf(note: EventNote): string {
  if (!isPodNote(note)) return note.about.namespace;
  return note.about?.kind === "Node" ? CLUSTER_NAMESPACE : note.namespace;
}

/** What the event is about: whose stream it is, and the pod that it came about by, if any. */
function objectsOf(note: EventNote): Record<string, unknown> {
  if (!isPodNote(note)) {
    const { apiVersion, kind, namespace, name, uid } = note.about;
    return { regarding: { apiVersion, kind, namespace, name, uid } };
  }
  const { about, namespace, podName, podUID } = note;
  const pod = { apiVersion: "v1", kind: "Pod", namespace, name: podName, uid: podUID };
  if (about === undefined) return { regarding: pod };
  const { apiVersion, kind, name, uid } = about;
  const subject = { apiVersion, kind, name, uid };
  return { regarding: kind === "Node" ? subject : { ...subject, namespace }, related: pod };
}

function actionOf(note: EventNote): string {
  if (isPodNote(note)) return "Resize";
  return Object.hasOwn(PLACEMENT_EVENT_REASONS, note.reason) ? "Place" : "Rightsize";
}

/** A sink that sends nothing before it runs. */
export function createEventSink(
  connection: KubeConnection,
  options: EventSinkOptions,
): KubeEventSink {
  const { clock, log, instance = CONTROLLER, capacity = 1000 } = options;
  const queue = createNoteQueue<EventNote>(capacity);
  const series = createEventSeries();
  let lastStamp = 0;

  /** Microseconds as client-go takes them; a policy and its workload may have one name, and one time. */
  function stampOf(nowMs: number): string {
    lastStamp = Math.max(Math.floor(nowMs * 1000), lastStamp + 1);
    return lastStamp.toString(16);
  }

  function path(namespace: string): string {
    return `/apis/events.k8s.io/v1/namespaces/${pathPart(namespace)}/events`;
  }

  async function createEvent(note: EventNote, signal: AbortSignal): Promise<void> {
    const nowMs = clock.wall();
    // Unique as client-go makes it: the object's name and the time in hex.
    const of = note.about?.name ?? (isPodNote(note) ? note.podName : "");
    // A part of a DNS subdomain ends in a letter or a digit.
    const name = `${of.slice(0, 200).replace(/[-.]+$/, "")}.${stampOf(nowMs)}`;
    await connection.request({
      method: "POST",
      path: path(namespaceOf(note)),
      signal,
      body: {
        apiVersion: "events.k8s.io/v1",
        kind: "Event",
        metadata: { namespace: namespaceOf(note), name },
        eventTime: formatMicroTime(nowMs),
        reportingController: CONTROLLER,
        reportingInstance: instance.slice(0, 128),
        action: actionOf(note),
        reason: note.reason,
        type: note.type,
        note: cutToBytes(note.message, LONGEST_NOTE),
        ...objectsOf(note),
      },
    });
    series.begin(note, { name, nowMs });
  }

  async function send(note: EventNote, signal: AbortSignal): Promise<void> {
    const repeated = series.repeat(note, clock.wall());
    if (repeated === undefined) return await createEvent(note, signal);
    try {
      await connection.request({
        method: "PATCH",
        path: `${path(namespaceOf(note))}/${pathPart(repeated.name)}`,
        contentType: "application/merge-patch+json",
        signal,
        body: {
          series: {
            count: repeated.count,
            lastObservedTime: formatMicroTime(clock.wall()),
          },
        },
      });
    } catch (error) {
      // Events expire, after an hour by default.
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      await createEvent(note, signal);
    }
  }

  return {
    emit: (note) => queue.put(note, { urgent: note.type === "Warning" }),
    async run(signal) {
      let lost = 0;
      for (;;) {
        const note = await queue.take(signal);
        if (note === undefined) return;
        try {
          await send(note, signal);
        } catch (error) {
          if (signal.aborted) return;
          log.debug("An event was lost", { reason: note.reason, error: String(error) });
        }
        if (queue.lost > lost) log.warn("Events were lost", { count: queue.lost - lost });
        lost = queue.lost;
      }
    },
  };
}
