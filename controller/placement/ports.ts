/**
 * What the controller of placement does to the cluster, and where its events go.
 *
 * @module
 */
import type { PlacementEventReason } from "../../shared/api/reasons/placement_event_reasons.ts";
import type { PlacementReason } from "../../shared/api/reasons/placement_reasons.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import type { PlacedKind, PlacementScope } from "../../shared/placement/eligibility.ts";
import type { PlacementRequest, UnplacedReason } from "../../shared/placement/placement_request.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/control/list_watch.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import type { NodeConstraint } from "../../shared/placement/node_constraints.ts";
import type { LabeledObject } from "../../shared/placement/placement_spec.ts";
import type { PlacedWorkload } from "../../shared/placement/split.ts";
import type { NodeRules } from "../../shared/placement/placed_pod.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";

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

/** Names a workload. */
export interface PlacementSubject {
  readonly kind: PlacedKind;
  readonly namespace: string;
  readonly name: string;
}

/** What a look came to: a move, or why there was none. */
export type PlacementAction = PlacementReason | "PodRescheduled";

/** One look at a workload that takes part, or would but for its words. */
export interface ReconcileReport {
  readonly tookMs: number;
  readonly action: PlacementAction;
  /** `dry`: it would have been done. `blocked`: a budget was in the way. `failed`: see the log. */
  readonly result: "done" | "dry" | "blocked" | "failed";
  /** Absent where its words can't be read. */
  readonly replicas?: {
    /** Those that have a node. */
    readonly actual: ClassCounts;
    readonly desired: ClassCounts;
    /** Those that are to run on-demand at least, whatever the share. */
    readonly floor: number;
    /** For how long the one that waits for the longest has found no node, ms; 0: none waits. */
    readonly pendingMs: number;
  };
}

/** A pod that is being created. */
export interface AdmissionReport {
  /** `Placed`; `ReadOnly`: it would have been; otherwise why it was left as it was sent. */
  readonly result: "Placed" | "ReadOnly" | UnplacedReason;
  /** Where it goes, or would. */
  readonly class?: NodeClass;
  readonly tookMs: number;
}

/** Receives it. */
export interface PlacementObserver {
  /** A pod is being created. */
  answered?(fact: AdmissionReport): void;
  /** True: this replica is the one that moves pods. */
  leads?(isLeader: boolean): void;
  /** A workload was looked at. */
  looked?(workload: PlacementSubject, look: ReconcileReport): void;
  /** A budget, or several, did not let a pod go. */
  blocked?(workload: PlacementSubject): void;
  /** Spot nodes are short for it. */
  fellBack?(workload: PlacementSubject): void;
  /** It is gone, or takes part no more: so are its series. */
  left?(workload: PlacementSubject): void;
}

/** A copy of one kind. */
export type Copy<T extends ApiObject> = Pick<
  Informer<T>,
  "get" | "byIndex" | "synced" | "subscribe"
>;

/** A workload whose pods may be placed. */
export interface KnownWorkload extends PlacedWorkload, LabeledObject {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The owner of a pod. */
export type OwnedPod = Pick<PlacementRequest, "namespace" | "owner">;

/** What may bind a pod's nodes. */
export interface ConstrainedPod extends Pick<PlacementRequest, "namespace" | "claims"> {
  /** Beside its volumes. @default {[]} */
  readonly bounds?: readonly NodeConstraint[];
}

/** What is known of the cluster. */
export interface WebhookView {
  /** False while a copy is not whole: what is missing there may be anywhere. */
  readonly synced: boolean;
  /** The owner; `other` where it is none whose pods are placed; undefined while it is not known. */
  workloadOf(pod: OwnedPod): KnownWorkload | "other" | undefined;
  /** Undefined while it is not known. */
  namespace(name: string): LabeledObject | undefined;
  /** Classes of which volumes and bounds allow a node. */
  allowed(pod: ConstrainedPod): readonly NodeClass[];
  /** All pods that the workload owns, of whatever revision. */
  podsOf(workload: KnownWorkload): readonly CountedPod[];
  /** Calls whenever an object changed, until the returned function is called. */
  onChange(listener: () => void): () => void;
  /** Calls with each pod that changed and is there, and the UID of its workload. */
  onPod(listener: (pod: CountedPod, workloadUID: string) => void): () => void;
}

/** What settings say, as they are now. */
export interface PlacementRules extends NodeRules {
  readonly scope: PlacementScope;
  /** True: what would be done is told, and nothing is changed. */
  readonly readOnly: boolean;
}

/** Tells whether spot nodes are short for a workload. */
export type ShortageOf = (workload: KnownWorkload) => ShortagePhase;
