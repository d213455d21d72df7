/**
 * Ports of the programs to the API server, beside list-watch. `adapters/kube/` and the simulated API
 * implement them; `tests/contract/` has the suites that both pass.
 *
 * @module
 */
import type { Node } from "./node.ts";
import type { Pod } from "./pod.ts";
import type { Desired, PodAllocation } from "./pod_allocation.ts";
import type { EventReason } from "./reasons/enforcement_reasons.ts";
import type { PlacementEventReason } from "./reasons/placement_reasons.ts";
import type { RightsizingEventReason } from "./reasons/rightsizing_reasons.ts";

/** Writes allocations. Each call throws an `ApiError` when the server refuses. */
export interface AllocationStore {
  /** Creates the object (without its status) and returns it as stored. 409 when it exists. */
  create(allocation: PodAllocation): Promise<PodAllocation>;
  /** Replaces the status; 409 `Conflict` when `resourceVersion` is not the stored one. */
  writeStatus(allocation: PodAllocation): Promise<PodAllocation>;
  /** Deletes the object if its UID is still this one; 404 when it is gone. */
  remove(allocation: PodAllocation): Promise<void>;
}

/** Writes what an agent's clearing decided. */
export interface DesiredWriter {
  /**
   * Merges `desired` into the spec, and resolves with the resourceVersion that has it. Throws an
   * `ApiError`; 404 when the allocation is gone, 422 `Invalid` when one of another `uid` has its name.
   */
  writeDesired(
    allocation: { readonly namespace: string; readonly name: string; readonly uid?: string },
    desired: Desired,
  ): Promise<string>;
}

/** An agent's own node in the API. */
export interface NodeLink {
  /** The node as the API has it now. Throws an `ApiError`. */
  node(): Promise<Node>;
  /** Renews the agent's Lease, so that the controller sees it alive. Throws an `ApiError`. */
  renewLease(): Promise<void>;
}

/** Reads a pod's template, where the pod itself no longer has the values. */
export interface OwnerTemplates {
  /**
   * CPU limits, millicores by container name (sidecars too), of the template that the pod was made
   * from: a ReplicaSet's or Job's, or that of the revision of a StatefulSet or DaemonSet. Undefined
   * when the pod has no such owner, or it can't be read. Throws an `ApiError` when the server can't
   * be reached.
   */
  limitsOf(pod: Pod): Promise<ReadonlyMap<string, number> | undefined>;
}

/** Identifies a pod; a new pod of the same name is another one. */
export interface PodRef {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
}

/**
 * The answer to an eviction. `blocked`: by one or several budgets. `gone`: the pod does not exist any
 * more. `forbidden`: the account lacks the right, or an admission controller denied it.
 */
export type EvictionAnswer =
  | { readonly is: "evicted" | "gone" }
  | { readonly is: "blocked" | "forbidden"; readonly message: string };

/** Evicts pods through the eviction API. */
export interface PodEvictor {
  /** Throws an `ApiError` for answers that are not about the pod, such as an overloaded server. */
  evict(pod: PodRef, options?: { readonly auditID?: string | undefined }): Promise<EvictionAnswer>;
}

/** Sets the order in which a ReplicaSet deletes pods. */
export interface DeletionCostWriter {
  /** Writes the pod's cost. Returns false if the pod is gone. Throws an `ApiError`. */
  write(pod: PodRef, cost: number): Promise<boolean>;
}

/** The object that an event is about. */
export interface EventSubject {
  /** For instance `apps/v1`. */
  readonly apiVersion: string;
  readonly kind: string;
  /** For a Namespace its own name; absent for nodes. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid: string;
}

/** A message on the event stream of an object. */
export interface ObjectEvent<
  Reason extends string = EventReason | RightsizingEventReason | PlacementEventReason,
> {
  readonly about: EventSubject;
  /** A pod that the event concerns, where `about` is an object that many pods share. */
  readonly pod?: PodRef;
  readonly type: "Normal" | "Warning";
  readonly reason: Reason;
  readonly message: string;
}

/** An event of the market. */
export type MarketEvent = ObjectEvent<EventReason>;

/** Where events go. A lost event is no error. */
export interface EventSink<Event = MarketEvent> {
  emit(event: Event): void;
}
