/**
 * What the controller of placement does to the cluster, and where its events go.
 *
 * @module
 */
import type { PlacementEventReason } from "../../shared/api/reasons/placement_event_reasons.ts";

/** A pod, and no other of its name. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * What the server said. `blocked`: by a budget, or by several, in its words. `gone`: there is no such pod
 * any more. `forbidden`: the account lacks the right, or an admission controller refused.
 */
export type EvictionAnswer =
  | { readonly is: "evicted" | "gone" }
  | { readonly is: "blocked" | "forbidden"; readonly message: string };

/** Evicts pods as budgets allow it. */
export interface PodEvictor {
  /** Throws an `ApiError` for what is no answer about the pod, such as a server in trouble. */
  evict(pod: PodRef): Promise<EvictionAnswer>;
}

/** Says in which order a ReplicaSet deletes pods. */
export interface DeletionCostWriter {
  /** Writes the pod's cost. False: it is gone. Throws an `ApiError`. */
  write(pod: PodRef, cost: number): Promise<boolean>;
}

/** A message on the event stream of a workload. */
export interface PlacementEvent {
  readonly about: {
    /** `apps/v1`. */
    readonly apiVersion: string;
    readonly kind: string;
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly type: "Normal" | "Warning";
  readonly reason: PlacementEventReason;
  readonly message: string;
}

/** Where events go. A lost event is no error. */
export interface PlacementEvents {
  emit(event: PlacementEvent): void;
}
