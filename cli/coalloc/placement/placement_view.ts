/**
 * What `placement` shows, as one value: its JSON and YAML are this, and the texts are made of it. Times
 * are ISO 8601.
 *
 * @module
 */
import type { PlacementReason } from "../../../shared/api/reasons/placement_reasons.ts";
import type { ClassCounts, NodeClass } from "../../../shared/placement/node_classes.ts";
import type { PlacedKind } from "../../../shared/placement/eligibility.ts";
import type { PlacementSpec } from "../../../shared/placement/placement_spec.ts";

/**
 * Where a workload stands. `Bound`: each replica that would have to move forbids it. `LeftAlone`: it
 * takes no part. `Unknown`: the needed objects can't be read.
 */
export type PlacementPhase =
  | "AsWished"
  | "Converging"
  | "Fallback"
  | "Returning"
  | "Paused"
  | "OutsideWindow"
  | "Cooldown"
  | "BlockedByBudget"
  | "Bound"
  | "NotWhole"
  | "Misconfigured"
  | "LeftAlone"
  | "Unknown";

/** Where it stands, and why. */
export interface PhaseFacts {
  readonly phase: PlacementPhase;
  /** When the phase ends by itself. */
  readonly until?: string;
  /** The reason, its meaning and its remedy; absent where there is none. */
  readonly reason?: PlacementReason;
  readonly means?: string;
  readonly remedy?: string;
  /** The particulars, in a sentence. */
  readonly message?: string;
}

/** What the controller does next, as far as it can be foreseen. */
export interface NextStep {
  /** As text, for instance `evict pod web-1 (youngest surplus spot) to on-demand`. */
  readonly words: string;
  /** The pod that is evicted; absent where none is. */
  readonly pod?: string;
  /** The class that it moves to. */
  readonly to?: NodeClass;
  /** Not before; absent: with the next look. */
  readonly notBefore?: string;
}

/** The pods of one template. */
export interface ShownRevision {
  /** Hash of the template. */
  readonly revision: string;
  /** The split of as many pods as there are; absent where none is requested. */
  readonly desired?: ClassCounts;
  /** Pods by the class of their nodes; absent where nodes can't be read. */
  readonly actual?: ClassCounts;
  /** Pods without a node, by the class that they were made for. */
  readonly pending: ClassCounts;
}

/** A pod. */
export interface ShownPod {
  readonly name: string;
  readonly revision: string;
  /** Empty until it has one. */
  readonly node: string;
  /** Of its node, or the one that it was made for; absent where its node can't be read. */
  readonly class?: NodeClass;
  readonly ready: boolean;
  /** Short remarks. */
  readonly notes: readonly string[];
}

/** A workload. */
export interface ShownWorkload extends PhaseFacts {
  readonly namespace: string;
  readonly kind: PlacedKind;
  readonly name: string;
  /** What it asks for; absent where it takes no part. */
  readonly wish?: PlacementSpec;
  /** `spec.replicas`; absent where they can't be read. */
  readonly replicas?: number;
  /** The split of that. */
  readonly desired?: ClassCounts;
  /** Sum of the revisions'. */
  readonly actual?: ClassCounts;
  /** Sum of the revisions'; absent where pods can't be read. */
  readonly pending?: ClassCounts;
  /** The newest first; empty where pods can't be read. */
  readonly revisions: readonly ShownRevision[];
  readonly next?: NextStep;
  /** Without those that are gone, unless their node is about to go. */
  readonly pods: readonly ShownPod[];
}

/** All of it. */
export interface PlacementView {
  /** By namespace, kind and name. */
  readonly workloads: readonly ShownWorkload[];
  /** What could not be read, and what that hides, in sentences. */
  readonly notes: readonly string[];
}
