/**
 * Ports of rightsizing: usage and events. `shared/rightsizing/ports.ts` has what it writes.
 *
 * @module
 */
import type { HTTPLogin } from "../../adapters/http_login.ts";
import type { LoginFiles, RequestHeaders } from "../../shared/config/server_kinds.ts";
import type { EventSink, ObjectEvent } from "../../shared/api/ports.ts";
import type { RightsizingEventReason } from "../../shared/api/reasons/rightsizing_reasons.ts";
import type { WorkloadKind } from "../../shared/api/workload.ts";
import type { ContainerUsage } from "../../shared/rightsizing/distribution.ts";

/** One workload of a namespace. */
export interface WorkloadIdentity {
  readonly kind: WorkloadKind;
  readonly name: string;
  readonly uid: string;
}

/** A time span, ms since 1970; never empty. */
export interface UsageWindow {
  /** Exclusive. */
  readonly fromMs: number;
  /** Inclusive. */
  readonly toMs: number;
}

/** A question to a source. */
export interface UsageQuestion {
  readonly namespace: string;
  readonly workload: WorkloadIdentity;
  /** Names of the pods that there are of it, by their owner references. */
  readonly pods: readonly string[];
  /** Names of pods of its namespace that are known to be others'. */
  readonly otherPods: readonly string[];
  /** Names of its containers, init containers left out. */
  readonly containers: readonly string[];
  readonly window: UsageWindow;
}

/**
 * Why there is no usage. `unreachable`: nothing came, or not now. `refused`: the server says that it
 * can't do such a question. `unreadable`: the answer does not fit it. `unavailable`: there is
 * no server to ask, or not yet.
 */
export interface UsageProblem {
  readonly problem: "unreachable" | "refused" | "unreadable" | "unavailable";
  /** In a sentence, without secrets. */
  readonly message: string;
}

/**
 * Usage by container, over all pods of the workload. Each container that was asked for is there; one
 * of which nothing was seen has distributions without samples. A source that keeps no single samples
 * may answer for a window that ends later, now, and is not longer.
 */
export type UsageAnswer =
  | {
    readonly usage: ReadonlyMap<string, ContainerUsage>;
    /**
     * Since when the source has watched for the workload, ms since 1970: of the time before it may have
     * seen nothing. @default it has seen whatever there was in the window
     */
    readonly watchedSinceMs?: number;
  }
  | UsageProblem;

/** Where usage comes from. */
export interface UsageSource {
  /** Never rejects; `signal` ends the wait. */
  usage(question: UsageQuestion, signal: AbortSignal): Promise<UsageAnswer>;
}

/** Settings and logins for connecting sources. */
export interface UsageConnections<Settings> {
  /** The present values; those that may change are read for each question. */
  readonly settings: () => Settings;
  /** Usage that was sampled from metrics-server. */
  readonly sampler: UsageSource;
  /** A login; its connections are closed with the sources. */
  readonly loginOf: (files: LoginFiles, headers?: RequestHeaders) => HTTPLogin;
}

/** A message on the event stream of a policy or a workload. */
export type RightsizingEvent = ObjectEvent<RightsizingEventReason>;

/** Where events go. */
export type RightsizingEvents = EventSink<RightsizingEvent>;
