/**
 * Who wants to know what placement does, for metrics. Each method is called at once and must be quick.
 *
 * @module
 */
import type { PlacementReason } from "../../shared/api/reasons/placement_reasons.ts";
import type { ClassCounts, NodeClass } from "../../shared/placement/node_class.ts";
import type { PlacedKind } from "../../shared/placement/placement_gate.ts";
import type { UnplacedReason } from "../../shared/placement/placement_request.ts";

/** Names a workload. */
export interface PlacementSubject {
  readonly kind: PlacedKind;
  readonly namespace: string;
  readonly name: string;
}

/** What a look came to: a move, or why there was none. */
export type PlacementAction = PlacementReason | "PodRescheduled";

/** One look at a workload that takes part, or would but for its words. */
export interface PlacementLook {
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
export interface PlacementFact {
  /** `Placed`; `ReadOnly`: it would have been; otherwise why it was left as it was sent. */
  readonly result: "Placed" | "ReadOnly" | UnplacedReason;
  /** Where it goes, or would. */
  readonly class?: NodeClass;
  readonly tookMs: number;
}

/** Receives it. */
export interface PlacementObserver {
  /** A pod is being created. */
  answered?(fact: PlacementFact): void;
  /** True: this replica is the one that moves pods. */
  leads?(isLeader: boolean): void;
  /** A workload was looked at. */
  looked?(workload: PlacementSubject, look: PlacementLook): void;
  /** A budget, or several, did not let a pod go. */
  blocked?(workload: PlacementSubject): void;
  /** Spot nodes are short for it. */
  fellBack?(workload: PlacementSubject): void;
  /** It is gone, or takes part no more: so are its series. */
  left?(workload: PlacementSubject): void;
}
