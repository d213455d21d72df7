/**
 * What the webhook's half of placement needs of the outside.
 *
 * @module
 */
import type { Informer } from "../../shared/control/informer.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { CountedPod } from "../../shared/placement/admit_pod.ts";
import type { NodeBounds } from "../../shared/placement/bound_pod.ts";
import type { Worded } from "../../shared/placement/enabled_word.ts";
import type { PlacedWorkload } from "../../shared/placement/next_class.ts";
import type { NodeClass } from "../../shared/placement/node_class.ts";
import type { PlacementScope } from "../../shared/placement/placement_gate.ts";
import type { NodeRules } from "../../shared/placement/pod_standing.ts";
import type { PlacementRequest } from "../../shared/placement/placement_request.ts";
import type { ShortagePhase } from "../../shared/placement/shortage.ts";

/** A copy of one kind. */
export type Copy<T extends ApiObject> = Pick<
  Informer<T>,
  "get" | "byIndex" | "synced" | "subscribe"
>;

/** A workload whose pods may be placed. */
export interface KnownWorkload extends PlacedWorkload, Worded {
  readonly uid: string;
  readonly namespace: string;
  readonly name: string;
}

/** The owner of a pod. */
export type OwnedPod = Pick<PlacementRequest, "namespace" | "owner">;

/** What may bind a pod's nodes. */
export interface BoundPod extends Pick<PlacementRequest, "namespace" | "claims"> {
  /** Beside its volumes. @default {[]} */
  readonly bounds?: readonly NodeBounds[];
}

/** What is known of the cluster. */
export interface WebhookFacts {
  /** False while a copy is not whole: what is missing there may be anywhere. */
  readonly synced: boolean;
  /** The owner; `other` where it is none whose pods are placed; undefined while it is not known. */
  workloadOf(pod: OwnedPod): KnownWorkload | "other" | undefined;
  /** Undefined while it is not known. */
  namespace(name: string): Worded | undefined;
  /** Classes of which volumes and bounds allow a node. */
  allowed(pod: BoundPod): readonly NodeClass[];
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
