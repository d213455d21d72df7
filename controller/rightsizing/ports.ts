/**
 * Ports of rightsizing: usage and events. `shared/rightsizing/ports.ts` has its ports for writes.
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

/** A query to a source. */
export interface UsageQuery {
  readonly namespace: string;
  readonly workload: WorkloadIdentity;
  /** Names of its present pods, by their owner references. */
  readonly pods: readonly string[];
  /** Names of the namespace's pods that do not belong to it. */
  readonly otherPods: readonly string[];
  /** Names of its containers, init containers left out. */
  readonly containers: readonly string[];
  readonly window: UsageWindow;
}

/**
 * Why there is no usage. `unreachable`: no answer, or only later. `refused`: the server rejects the query.
 * `unreadable`: the answer does not fit the query. `unavailable`: no server is configured, or none is read yet.
 */
export interface UsageProblem {
  readonly problem: "unreachable" | "refused" | "unreadable" | "unavailable";
  /** In a sentence, without secrets. */
  readonly message: string;
}

/**
 * Usage by container, over all pods of the workload, for each container of the query; without usage, its
 * distributions have no samples. A source that stores histograms may answer for a window of the same length
 * or a shorter one that ends now.
 */
export type UsageAnswer =
  | {
    readonly usage: ReadonlyMap<string, ContainerUsage>;
    /**
     * Since when the source has sampled the workload, ms since 1970: it may have no samples from before.
     * @default since before the window
     */
    readonly watchedSinceMs?: number;
  }
  | UsageProblem;

/** Where usage comes from. */
export interface UsageSource {
  /** Never rejects; `signal` ends the wait. */
  usage(query: UsageQuery, signal: AbortSignal): Promise<UsageAnswer>;
}

/** Settings and logins for connecting sources. */
export interface UsageConnections<Settings> {
  /** The present values; settings that may change are read for each query. */
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
