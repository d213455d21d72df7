/**
 * The ports of placement: reads and writes of the cluster, events and observers.
 *
 * @module
 */
import type {
  DeletionCostWriter,
  EventSink,
  ObjectEvent,
  PodEvictor,
} from "../../shared/api/ports.ts";
import type {
  PlacementEventReason,
  PlacementReason,
} from "../../shared/api/reasons/placement_reasons.ts";
import type { PlacedKind } from "../../shared/placement/eligibility.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_classes.ts";
import type { UnplacedReason } from "../../shared/placement/new_pod.ts";
import type { CheckpointStore } from "../../shared/control/persisted_map.ts";
import type { SourcesOf } from "../caches.ts";
import type { PlacementInformers } from "./caches.ts";

/** The API server as placement uses it, beside the caches that it shares with the market. */
export interface PlacementAPI {
  readonly sources: SourcesOf<PlacementInformers>;
  readonly evictor: PodEvictor;
  readonly costs: DeletionCostWriter;
  /** Stores what must outlive the process. */
  readonly store: CheckpointStore;
  /** Stores the published statuses. */
  readonly statuses: CheckpointStore;
  readonly events: PlacementEvents;
}

/** An event of a workload. */
export type PlacementEvent = ObjectEvent<PlacementEventReason>;

/** Receives events. */
export type PlacementEvents = EventSink<PlacementEvent>;

/** Names a workload. */
export interface PlacementSubject {
  readonly kind: PlacedKind;
  readonly namespace: string;
  readonly name: string;
}

/** Identifies a workload; a new workload of the same name has another UID. */
export interface PlacementTarget extends PlacementSubject {
  readonly uid: string;
}

/** A reconcile of a workload that takes part, or would if its annotations were valid. */
export interface ReconcileReport {
  readonly tookMs: number;
  /** A move, or why there was none. */
  readonly action: PlacementReason | "PodRescheduled";
  /** `dry`: it would have been done. `blocked`: by a budget. `failed`: see the log. */
  readonly result: "done" | "dry" | "blocked" | "failed";
  /** Absent if the annotations are not valid. */
  readonly replicas?: {
    /** Replicas that have a node. */
    readonly actual: ClassCounts;
    readonly desired: ClassCounts;
    /** Replicas that run on-demand at least, whatever the percentage. */
    readonly floor: number;
    /** How long the longest waiting replica has found no node, ms; 0: none waits. */
    readonly pendingMs: number;
  };
}

/** The admission of a pod. */
export interface AdmissionReport {
  /** `Placed`; `ReadOnly`: it would have been placed; otherwise why the pod was not changed. */
  readonly result: "Placed" | "ReadOnly" | UnplacedReason;
  /** The class of nodes that the pod goes to, or would go to. */
  readonly class?: NodeClass;
  readonly tookMs: number;
}

/** Observes placement, for metrics. Methods are called synchronously and must be quick. */
export interface PlacementObserver {
  /** A pod is being created. */
  admitted?(report: AdmissionReport): void;
  /** True: this replica moves pods. */
  leads?(isLeader: boolean): void;
  reconciled?(workload: PlacementSubject, report: ReconcileReport): void;
  /** A budget did not allow an eviction. */
  blocked?(workload: PlacementSubject): void;
  /** Spot nodes are short for the workload. */
  fellBack?(workload: PlacementSubject): void;
  /** The workload is deleted or takes no part any more; its series end. */
  removed?(workload: PlacementSubject): void;
}
