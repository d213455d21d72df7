/**
 * The API server as one process reaches it: its requests and watches meet the faults of the plan.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import type { WatchEvent } from "../../../shared/control/informer.ts";
import type { ApiObject } from "../../../shared/api/object.ts";
import type {
  ApiAccess,
  RequestGate,
  SentRequest,
} from "../../../lab/simulation/api/request_gate.ts";
import type { ObjectTable } from "../../../lab/simulation/api/object_store.ts";
import {
  createSimulatedClient,
  type SimulatedClient,
} from "../../../lab/simulation/api/simulated_api.ts";
import { createListWatch, type Selector } from "../../../lab/simulation/api/list_watch.ts";
import type { KindName } from "../../../lab/simulation/api/kinds.ts";
import type { VirtualClock } from "../../../lab/simulation/virtual_clock.ts";
import type { FaultOf, FaultSchedule, ProcessName } from "../fault.ts";
import type { Process } from "./process.ts";

/** A request while the server works on it. */
export interface Actor {
  readonly process: ProcessName;
  readonly line: SentRequest;
  /** Monotonic ms. */
  readonly sentMs: number;
  /** The request was under way for longer than any client waits. */
  readonly late: boolean;
  /** The process's state when it sent the request. */
  readonly known: Knowledge;
}

/** The state of a process when it sends a request. */
export interface Knowledge {
  /** Copies of the controller that it knows to be out of sync. */
  readonly unsynced: readonly string[];
  /** The pod that the request is about, in the controller's copy. */
  readonly pod?: Pod | undefined;
  /** The record of this pod, in the controller's copy. */
  readonly record?: PodAllocation | undefined;
}

/** Follows the requests of processes. */
export interface RequestObserver {
  sent(actor: Actor): void;
  answered(actor: Actor, answer: unknown): void;
  /** The server failed once and says nothing of when to try again. */
  failed(actor: Actor): void;
}

/** The ports of a process; its watches of a kind can be ended from outside. */
export interface FaultyClient extends SimulatedClient {
  /** Ends the watches of this kind, as a lost connection does. */
  breakWatches(kind: KindName): void;
}

/** The parts of a faulty client. */
export interface FaultyClientParts {
  readonly name: ProcessName;
  readonly process: Process;
  readonly access: ApiAccess;
  readonly clock: VirtualClock;
  readonly schedule: FaultSchedule;
  /** Called around what the server does for a request. */
  readonly act: <R>(actor: Actor, action: () => R) => R;
  /** The process's present state, for the actor of this request. */
  readonly knows: (line: SentRequest) => Knowledge;
  /** Called with each request that is sent, and with each answer that the process receives. */
  readonly observe: RequestObserver;
  /** Ends the process; it starts again after `downMs`. */
  readonly crash: (downMs: number) => void;
}

/** A client gives up waiting for an answer after this, ms. */
const CLIENT_TIMEOUT_MS = 10_000;

function errorOf({ status, verb, object, retryAfterMs }: FaultOf<"answer">): ApiError {
  const reason = status === 409 ? "Conflict" : status === 410 ? "Expired" : "";
  const options = retryAfterMs === undefined ? {} : { retryAfterMs };
  return new ApiError(status, reason, `fault: ${verb} ${object} answered ${status}`, options);
}

/** The ports of this process. */
export function createFaultyClient(parts: FaultyClientParts): FaultyClient {
  const { name, process, clock, schedule } = parts;
  const gate = createFaultyGate(parts);
  const ends = new Set<() => void>();
  const breaks = new Map<KindName, Set<() => void>>();
  process.onEnd(() => ends.forEach((end) => end()));
  const access: ApiAccess = {
    ...parts.access,
    gate,
    clock: process.clock,
    streams: {
      ...parts.access.streams,
      onEvent(wake) {
        const dismiss = parts.access.streams.onEvent(wake);
        ends.add(dismiss);
        return () => {
          ends.delete(dismiss);
          dismiss();
        };
      },
    },
  };
  return {
    ...createSimulatedClient(access),
    breakWatches: (kind) => breaks.get(kind)?.forEach((end) => end()),
    listWatch<K extends KindName>(kind: K, selector: Selector = {}) {
      const inner = createListWatch(access, kind, selector);
      const failing = (): boolean => schedule.listsFail(name, kind, clock.monotonic());
      return {
        list: (signal: AbortSignal) => {
          const travel = schedule.travel(name, kind, clock.monotonic());
          if (failing()) return gate.send({ verb: "list", kind }, refuse);
          if (travel === undefined) return inner.list(signal);
          return gate.send(
            { verb: "list", kind },
            () =>
              stateAt(access.store.tables[kind] as unknown as ObjectTable<ApiObject>, {
                // The cluster is older than the run: its beginning is the oldest state.
                atMs: Math.max(0, clock.monotonic() - travel.ageMs),
                now: access.store.version(),
                selector,
              }) as unknown as Awaited<ReturnType<typeof inner.list>>,
          );
        },
        watch: (version: string, signal: AbortSignal) => {
          const stream = new AbortController();
          const end = (): void => stream.abort();
          signal.addEventListener("abort", end, { once: true });
          const ofKind = breaks.get(kind) ?? new Set();
          breaks.set(kind, ofKind.add(end));
          const events = inner.watch(version, stream.signal);
          return faultyWatch(events, { kind, signal, parts, failing });
        },
      };
    },
  };
}

function forbid(): never {
  throw new ApiError(422, "Invalid", "fault: a policy refuses this");
}

function refuse(): never {
  throw new ApiError(503, "ServiceUnavailable", "fault: lists fail");
}

/** The gate of a process. */
function createFaultyGate(
  { name, process, access: { gate, store }, clock, schedule, act, knows, observe, crash }:
    FaultyClientParts,
): RequestGate {
  /** The pod that a write is about, `namespace/name`. */
  function podOf({ kind, key = "" }: SentRequest): string {
    if (kind === "Pod") return key;
    const { spec } = store.tables.PodAllocation.get(key) ?? {};
    return `${spec?.namespace}/${spec?.podName}`;
  }

  async function sendAs<R>(line: SentRequest, action: () => R, known: Knowledge): Promise<R> {
    const sentMs = clock.monotonic();
    const fault = schedule.ofRequest(name, line, sentMs);
    const actor = { process: name, line, sentMs, known };
    const doneBy = (late: boolean) => (): R => act({ ...actor, late }, action);
    observe.sent({ ...actor, late: false });
    if (schedule.refuses(line.kind, podOf(line), sentMs)) return await gate.send(line, forbid);
    if (fault === undefined) {
      const answer = await gate.send(line, doneBy(false));
      observe.answered({ ...actor, late: false }, answer);
      return answer;
    }
    if (fault.fault === "answer") {
      const error = errorOf(fault);
      if (fault.status >= 500 && fault.retryAfterMs === undefined && fault.times === 1) {
        observe.failed({ ...actor, late: false });
      }
      await gate.send(line, () => {
        if (fault.done) doneBy(false)();
        else throw error;
      });
      throw error;
    }
    if (fault.fault === "crash") {
      return await gate.send(line, () => {
        const answer = doneBy(false)();
        crash(fault.downMs);
        return answer;
      });
    }
    const answer = clock.sleep(fault.ms).then(() => gate.send(line, doneBy(true)));
    answer.catch(() => {});
    if (fault.ms < CLIENT_TIMEOUT_MS) return await answer;
    await clock.sleep(CLIENT_TIMEOUT_MS);
    throw new ApiError(0, "Timeout", "fault: no answer in time");
  }

  return {
    send: (line, action) =>
      process.alive ? process.receive(sendAs(line, action, knows(line))) : new Promise(() => {}),
    failNext: gate.failNext,
    stop: gate.stop,
    start: gate.start,
    get stopped() {
      return gate.stopped;
    },
    get epoch() {
      return gate.epoch;
    },
    oneWayMs: gate.oneWayMs,
    counts: gate.counts,
  };
}

/** The objects of a table as they were at a time, or as far back as the history goes. */
function stateAt<T extends ApiObject>(
  table: ObjectTable<T>,
  { atMs, now, selector: { nodeName } }: {
    readonly atMs: number;
    readonly now: number;
    readonly selector: Selector;
  },
): { items: T[]; resourceVersion: string } {
  const objects = new Map(table.all().map((one) => [keyOf(one), one]));
  const { log } = table;
  let version = now;
  for (let position = log.after(now) - 1; position >= 0; position--) {
    const entry = kept(() => log.at(position));
    if (entry === undefined || entry.atMs <= atMs) break;
    version = entry.version - 1;
    if (entry.before === undefined) objects.delete(keyOf(entry.object));
    else objects.set(keyOf(entry.before), entry.before);
  }
  const items = [...objects.values()].filter((one) =>
    nodeName === undefined || (table.nodeName(one) ?? nodeName) === nodeName
  );
  return { items, resourceVersion: String(version) };
}

/** Undefined for what was compacted. */
function kept<V>(read: () => V): V | undefined {
  try {
    return read();
  } catch (error) {
    if (error instanceof ApiError) return undefined;
    throw error;
  }
}

function keyOf({ metadata: { namespace, name } }: ApiObject): string {
  return `${namespace ?? ""}/${name}`;
}

/** The watch with the faults of its kind. */
async function* faultyWatch<T extends ApiObject>(
  inner: AsyncIterable<WatchEvent<T>>,
  { kind, signal, failing, parts: { name, process, clock, schedule } }: {
    readonly kind: KindName;
    readonly signal: AbortSignal;
    readonly failing: () => boolean;
    readonly parts: FaultyClientParts;
  },
): AsyncGenerator<WatchEvent<T>, void> {
  if (failing()) refuse();
  for await (const event of inner) {
    const now = clock.monotonic();
    if (failing()) refuse();
    const freeze = schedule.freeze(name, kind, now);
    if (freeze !== undefined) {
      await process.clock.sleep(freeze.atMs + freeze.ms - now, signal);
      if (signal.aborted) return;
      if (freeze.end !== "resume") {
        throw new ApiError(freeze.end === "expired" ? 410 : 0, "Expired", "fault: watch ended");
      }
    }
    yield event;
    if (schedule.duplicates(name, kind, now)) yield event;
  }
  if (failing()) refuse();
  if (schedule.travel(name, kind, clock.monotonic()) !== undefined) {
    // The copy is listed again, from a server that lags behind.
    throw new ApiError(410, "Expired", "fault: the history is gone");
  }
}
