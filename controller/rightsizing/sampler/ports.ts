/**
 * What the sampler needs from the outside.
 *
 * @module
 */
import type { UsageProblem, WorkloadIdentity } from "../ports.ts";

/** What one pod used at a time. */
export interface PodUsage {
  readonly namespace: string;
  readonly pod: string;
  /** Ms since 1970, by its node's clock. */
  readonly timeMs: number;
  /** Millicores and bytes. */
  readonly containers: readonly {
    readonly name: string;
    readonly cpu: number;
    readonly memory: number;
  }[];
}

/** Reads what all pods use now. */
export interface PodMetrics {
  /** Never rejects; `signal` ends the wait. */
  read(
    signal: AbortSignal,
  ): Promise<
    { readonly pods: readonly PodUsage[]; readonly unreadable: number } | UsageProblem
  >;
}

/** Whose a pod is, and what is kept of it. */
export interface PodOwner {
  readonly workload: WorkloadIdentity;
  /** Init containers left out. */
  readonly containers: readonly string[];
  /** How long what it uses counts: whole milliseconds. */
  readonly windowMs: number;
}

/** What the caches know of pods and workloads. */
export interface PodOwners {
  /** Undefined where nobody wants to know what the pod uses. */
  ownerOf(pod: { readonly namespace: string; readonly name: string }): PodOwner | undefined;
  /** False where nobody wants to know what any pod uses. */
  isWanted(): boolean;
  /** False only where the workload is known to be gone. */
  exists(workload: { readonly namespace: string; readonly uid: string }): boolean;
}
