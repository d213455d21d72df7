/**
 * Workloads: Deployments, StatefulSets and DaemonSets with their pod templates, and the ReplicaSets
 * between.
 *
 * @module
 */
import type { ApiObject, NamespacedObject } from "./object.ts";
import type { Pod, PodContainer, ResourceName, Resources } from "./pod.ts";

/** Kinds with rollouts that are followed. */
export type WorkloadKind = "Deployment" | "StatefulSet" | "DaemonSet";

/** Names a workload within a namespace. */
export interface WorkloadRef {
  /** For instance `Deployment`. */
  readonly kind: string;
  readonly name: string;
}

/** Stands for all workloads of a namespace: no name of an object is empty. */
export const EVERY_WORKLOAD: WorkloadRef = Object.freeze({ kind: "", name: "" });

/** The trimmed Deployment, StatefulSet or DaemonSet. */
export interface Workload extends ApiObject {
  readonly kind: WorkloadKind;
  readonly metadata: {
    readonly name: string;
    readonly namespace: string;
    readonly uid: string;
    readonly resourceVersion: string;
    /** All labels, since selectors may name any. @default {{}} */
    readonly labels?: Readonly<Record<string, string>>;
    /** Only this product's: `mbcas.io/`, `optipod.io/` and `spotalis.io/`. */
    readonly annotations: Readonly<Record<string, string>>;
  };
  readonly rollout: RolloutState;
  /** How many pods it has; absent for DaemonSets. */
  readonly replicas?: ReplicaCounts;
  /** Fields that only rightsizing reads; absent where they can't be read. */
  readonly spec?: WorkloadSpec;
  /** Why `spec` can't be read, in a sentence. */
  readonly unreadableTemplate?: string;
}

/** The template of a workload's new pods. Its sidecars are left alone. */
export type PodTemplate = Pick<
  Pod,
  "containers" | "initContainers" | "podLevel" | "hasDeadline" | "priorityClassName"
>;

/** The desired pods of a workload. */
export interface WorkloadSpec {
  /** `spec.paused`; false for StatefulSets and DaemonSets, which have none. */
  readonly paused: boolean;
  /** Desired pods; of a DaemonSet: `status.desiredNumberScheduled`. */
  readonly replicas: number;
  readonly template: PodTemplate;
  /** Absent: none is known. */
  readonly owners?: TemplateOwners;
}

/** The field manager that owns a value. */
export interface FieldOwner {
  readonly manager: string;
  /** When it last wrote, ms since 1970. */
  readonly atMs: number;
}

/** A request or limit, as `limits.cpu`. */
export type ResourceField = `${keyof Resources}.${ResourceName}`;

/** By container and field, the owner that wrote last. */
export type TemplateOwners = Readonly<
  Record<string, Readonly<Partial<Record<ResourceField, FieldOwner>>>>
>;

/** Counts of replicas that placement waits for. */
export interface ReplicaCounts {
  /** `spec.replicas`. */
  readonly replicas: number;
  /** False while its controller has not seen the newest spec. */
  readonly observed: boolean;
  /** `status.replicas`. */
  readonly present: number;
  /** `status.readyReplicas`. */
  readonly ready: number;
  /** `status.updatedReplicas`: those of the newest template. */
  readonly updated: number;
  /** `spec.ordinals.start` of a StatefulSet. @default {0} */
  readonly firstOrdinal?: number;
}

/** The fields that show whether pods of an old template are being replaced. */
export interface RolloutState {
  /** Present pods of the newest template. */
  readonly updated: number;
  /** Present pods of any template, without those that a partition keeps at an older one. */
  readonly total: number;
  /** True when no pod is being replaced: it is paused, waits for a manual step, or has given up. */
  readonly halted: boolean;
}

/**
 * True while pods of an old template are being replaced. Missing pods alone are no rollout: a workload
 * that is scaled up, perhaps under a quota that lets it have no more pods, leaves its present pods alone.
 */
export function isRollingOut({ updated, total, halted }: RolloutState): boolean {
  return !halted && total > updated;
}

/** A container or sidecar of the template. */
export type TemplateContainer = Resources & Pick<PodContainer, "name" | "sidecar">;

/** The Deployment, StatefulSet or DaemonSet, trimmed to its template. */
export interface WorkloadTemplate extends NamespacedObject {
  readonly kind: WorkloadKind;
  /** Desired pods. */
  readonly replicas: number;
  /** In the order of the manifest, sidecars last. */
  readonly containers: readonly TemplateContainer[];
  /** Why it can't be read, in a sentence; then it seems to have no containers. */
  readonly unreadable?: string;
}

/** The trimmed ReplicaSet. */
export interface ReplicaSet extends NamespacedObject {
  /** The Deployment that controls it; absent where none does. */
  readonly deployment?: { readonly name: string; readonly uid: string };
}
