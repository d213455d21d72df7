/**
 * The way of a request to the simulated server and back: latency, failures, outages.
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Clock } from "../../../shared/clock.ts";
import type { Random } from "../../../shared/random.ts";
import type { KindName } from "./kinds.ts";
import type { ObjectStore } from "./object_store.ts";

/** The verb of a request. `resize`, `evict` and `updateStatus` patch, create and update a subresource. */
export type Verb =
  | "get"
  | "list"
  | "watch"
  | "create"
  | "update"
  | "updateStatus"
  | "patch"
  | "resize"
  | "evict"
  | "delete";

/** A request as failures and counts see it. */
export interface RequestLine {
  readonly verb: Verb;
  readonly kind: KindName;
}

/** A request as it is sent. */
export interface SentRequest extends RequestLine {
  /** `objectKey()` of the object that it changes, where this kind of request names it. */
  readonly key?: string;
}

/** A failure to come. */
export interface InjectedFailure extends RequestLine {
  /** HTTP status; 0 means that there is no answer. */
  readonly status: number;
  /** The `reason`. Default: that of the status, where Kubernetes has one. */
  readonly reason?: string;
  readonly message?: string;
  readonly retryAfterMs?: number;
  /** The server does what it was asked, and only its answer is lost. @default {false} */
  readonly done?: boolean;
  /** How many requests fail. @default {1} */
  readonly times?: number;
}

/** The way to the server. */
export interface RequestGate {
  /** Sends a request: half the latency, the action, the other half. Throws an `ApiError`. */
  send<R>(line: SentRequest, action: () => R): Promise<R>;
  /** The next requests of this verb and kind fail. */
  failNext(failure: InjectedFailure): void;
  /** Nothing is answered any more, and watches break. */
  stop(): void;
  start(): void;
  readonly stopped: boolean;
  /** Counts the outages: a watch of an earlier epoch is broken. */
  readonly epoch: number;
  /** A one-way delay, ms: half a latency, with its jitter but for {@linkcode STEADY_KINDS}. */
  oneWayMs(kind: KindName): number;
  /** Requests that reached the server so far, by `verb kind`. */
  readonly counts: ReadonlyMap<string, number>;
}

/**
 * Kinds that the controller only follows: their lists and watches take the mean latency, so that
 * following one more draws nothing from the chance that all other requests share.
 */
const STEADY_KINDS: ReadonlySet<KindName> = new Set([
  "Lease",
  "LimitRange",
  "ResourceQuota",
  "Deployment",
  "StatefulSet",
  "DaemonSet",
  "HorizontalPodAutoscaler",
  "VerticalPodAutoscaler",
  "ReplicaSet",
  "PodDisruptionBudget",
  "PersistentVolume",
  "ConfigMap",
]);

/** Spread of the latency around its mean: uniform within ± 50 %. */
const JITTER = 0.5;

const REASONS: Readonly<Record<number, string>> = {
  400: "BadRequest",
  401: "Unauthorized",
  403: "Forbidden",
  404: "NotFound",
  409: "Conflict",
  410: "Expired",
  422: "Invalid",
  429: "TooManyRequests",
  500: "InternalError",
  503: "ServiceUnavailable",
  504: "Timeout",
};

function unreachable(): ApiError {
  return new ApiError(0, "Unreachable", "connection refused");
}

function errorOf(failure: InjectedFailure): ApiError {
  const { status, verb, kind, retryAfterMs } = failure;
  return new ApiError(
    status,
    failure.reason ?? REASONS[status] ?? "",
    failure.message ?? `injected failure of ${verb} ${kind}`,
    retryAfterMs === undefined ? {} : { retryAfterMs },
  );
}

/** An open way; `latencyMs` is the mean time of a request, there and back. */
export function createRequestGate(
  { clock, random, latencyMs }: {
    readonly clock: Clock;
    readonly random: Random;
    readonly latencyMs: number;
  },
): RequestGate {
  const failures: { readonly failure: InjectedFailure; left: number }[] = [];
  const counts = new Map<string, number>();
  let stopped = false;
  let epoch = 0;

  function jitteredMs(): number {
    return latencyMs === 0 ? 0 : latencyMs / 2 * (1 + JITTER * (2 * random.next() - 1));
  }

  function oneWayMs(kind: KindName): number {
    return STEADY_KINDS.has(kind) ? latencyMs / 2 : jitteredMs();
  }

  async function travel({ verb, kind }: RequestLine): Promise<void> {
    const sentIn = epoch;
    const waitMs = verb === "list" || verb === "watch" ? oneWayMs(kind) : jitteredMs();
    if (waitMs > 0) await clock.sleep(waitMs);
    if (stopped || epoch !== sentIn) throw unreachable();
  }

  function dueFailure(line: RequestLine): InjectedFailure | undefined {
    const index = failures.findIndex(({ failure }) =>
      failure.verb === line.verb && failure.kind === line.kind
    );
    const entry = failures[index];
    if (entry === undefined) return undefined;
    entry.left--;
    if (entry.left <= 0) failures.splice(index, 1);
    return entry.failure;
  }

  return {
    async send(line, action) {
      if (stopped) throw unreachable();
      await travel(line);
      const name = `${line.verb} ${line.kind}`;
      counts.set(name, (counts.get(name) ?? 0) + 1);
      const failure = dueFailure(line);
      if (failure !== undefined && failure.done !== true) throw errorOf(failure);
      const answer = action();
      await travel(line);
      if (failure !== undefined) throw errorOf(failure);
      return answer;
    },
    failNext(failure) {
      failures.push({ failure, left: failure.times ?? 1 });
    },
    stop() {
      stopped = true;
      epoch++;
    },
    start() {
      stopped = false;
    },
    get stopped() {
      return stopped;
    },
    get epoch() {
      return epoch;
    },
    oneWayMs,
    counts,
  };
}

/** Events that all watches share. */
export interface Streams {
  /** Calls `wake` after each write, outage and closing, until the returned function is called. */
  onEvent(wake: () => void): () => void;
  /** Grows when the server closes its streams in an orderly way. */
  closings(): number;
}

/** The objects and the way to them. */
export interface ApiAccess {
  readonly store: ObjectStore;
  readonly gate: RequestGate;
  readonly clock: Clock;
  readonly streams: Streams;
}
