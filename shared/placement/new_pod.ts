/**
 * A pod that is being created: its admission request, the decision about it, and the JSON patch that sends it
 * to nodes of a class.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "../admission/admission_review.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import { DELETION_COST } from "./split.ts";
import {
  capacityKeys,
  type NodeClass,
  type NodeClasses,
  otherClass,
  selectorOf,
  type Toleration,
} from "./node_classes.ts";
import { revisionOf } from "./placed_pod.ts";
import type { AwaitedPod, PodPlacement } from "./admit_pod.ts";
import { type JSONPatchOperation, pointerPart } from "../admission/json_patch.ts";
import type { Labels } from "../api/label_selector.ts";
import type { PodOwner } from "../api/pod.ts";
import { type NodeConstraint, podConstraints } from "./node_constraints.ts";
import { type NodeSelector, nodeTermsOf } from "../api/node.ts";

/** A pod that is being created. */
export interface PlacementRequest {
  readonly namespace: string;
  /** The pod's controller. */
  readonly owner: PodOwner;
  readonly revision: string;
  readonly pod: AwaitedPod;
  /**
   * The decision that the pod carries: a server sends it again if another webhook has changed it since, and most
   * pods have no name by then.
   */
  readonly decided?: PodPlacement;
  /** The nodes that its node selector and affinity allow. */
  readonly constraints: readonly NodeConstraint[];
  /** The claims of its volumes. */
  readonly claims: readonly string[];
  /** True if nothing will be stored. */
  readonly dryRun: boolean;
}

/**
 * The fields of a sent pod that placement reads: API servers have checked their types, but not yet their
 * values, and may send null.
 */
interface SentPod {
  readonly metadata: {
    readonly name?: string;
    readonly generateName?: string;
    readonly labels?: Labels | null;
    readonly annotations?: Labels | null;
    readonly ownerReferences?: readonly (PodOwner & { readonly controller?: boolean })[];
  };
  readonly spec: {
    readonly nodeSelector?: Labels | null;
    readonly tolerations?: readonly Toleration[] | null;
    readonly affinity?: {
      readonly nodeAffinity?: {
        readonly requiredDuringSchedulingIgnoredDuringExecution?: NodeSelector | null;
      } | null;
    } | null;
    readonly volumes?: readonly {
      readonly persistentVolumeClaim?: { readonly claimName: string };
    }[];
  };
}

/** Why a pod is not placed; also labels of metrics. */
export const UNPLACED_REASONS = [
  "NotPlaced",
  "ConfigurationError",
  "NodesBound",
  "NotSynced",
  "CopyBehind",
  "NoLeader",
  "LeaderUnsettled",
  "TimedOut",
  "Failed",
] as const;

/** One of {@linkcode UNPLACED_REASONS}. */
export type UnplacedReason = typeof UNPLACED_REASONS[number];

/** The pod's class; or why it is not placed, with a warning for the client. */
export type PlacementDecision =
  | PodPlacement
  | { readonly unplaced: UnplacedReason; readonly warning?: string };

/** The pod of a request; undefined if it has no controller, or is not being created. */
export function placementRequest(
  { resource, operation, namespace, dryRun, object }: AdmissionRequest,
): PlacementRequest | undefined {
  if (resource !== "pods" || operation !== "CREATE") return undefined;
  const { metadata, spec = {} } = (object ?? {}) as Partial<SentPod>;
  const controller = metadata?.ownerReferences?.find((one) => one.controller === true);
  if (metadata === undefined || controller === undefined) return undefined;
  const { apiVersion, kind, name, uid } = controller;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const decided = decisionIn(metadata);
  return {
    namespace,
    owner: { apiVersion, kind, name, uid },
    revision: revisionOf(metadata.labels ?? {}),
    // The server sends empty names of pods that have none yet.
    pod: {
      name: metadata.name || undefined,
      generateName: metadata.generateName || undefined,
    },
    ...(decided === undefined ? {} : { decided }),
    constraints: podConstraints({
      nodeSelector: spec.nodeSelector ?? {},
      ...(required ? { requiredNodes: nodeTermsOf(required) } : {}),
    }),
    claims: (spec.volumes ?? []).flatMap((one) => one.persistentVolumeClaim?.claimName ?? []),
    dryRun,
  };
}

function decisionIn({ labels, annotations }: SentPod["metadata"]): PodPlacement | undefined {
  const capacity = labels?.[CAPACITY];
  if (capacity !== "spot" && capacity !== "on-demand") return undefined;
  const cost = annotations?.[DELETION_COST] ?? "";
  return {
    class: capacity,
    ...(/^-?\d{1,10}$/.test(cost) ? { deletionCost: Number(cost) } : {}),
  };
}

/** The target of a pod. */
export interface PlacementTargetOptions {
  readonly to: NodeClass;
  readonly classes: NodeClasses;
}

/**
 * The patch; empty if the pod is already as it should be. Without a deletion cost the annotation is not
 * changed.
 */
export function placementPatch(
  object: SentObject,
  { to, classes, deletionCost }: PlacementTargetOptions & {
    readonly deletionCost?: number | undefined;
  },
): readonly JSONPatchOperation[] {
  const { metadata, spec } = object as unknown as SentPod;
  const nodeSelector = spec.nodeSelector ?? {};
  const tolerations = spec.tolerations ?? [];
  const placed = placedFields({ nodeSelector, tolerations }, { to, classes });
  return [
    ...setAll("/spec/nodeSelector", { before: nodeSelector, after: placed.nodeSelector }),
    ...setAll("/spec/tolerations", { before: tolerations, after: placed.tolerations }),
    ...setText("/metadata/labels", { before: metadata.labels, entry: [CAPACITY, to] }),
    ...(deletionCost === undefined ? [] : setText("/metadata/annotations", {
      before: metadata.annotations,
      entry: [DELETION_COST, String(deletionCost)],
    })),
  ];
}

/** The fields that send a pod to nodes. */
export interface PlacedFields {
  readonly nodeSelector: Labels;
  readonly tolerations: readonly Toleration[];
}

/**
 * Sets selector and tolerations of the class. Replaces capacity labels in the selector and tolerations of both
 * classes, and keeps all others. Idempotent.
 */
export function placedFields(
  { nodeSelector, tolerations }: PlacedFields,
  { to, classes }: PlacementTargetOptions,
): PlacedFields {
  const capacity = capacityKeys(classes);
  const wanted = classes[to].tolerations;
  const unwanted = classes[otherClass(to)].tolerations;
  const unrelated = tolerations.filter((one) =>
    ![...wanted, ...unwanted].some((known) => isSameToleration(one, known)) &&
    !unwanted.some((known) => toleratesSame(one, known))
  );
  return {
    nodeSelector: {
      ...Object.fromEntries(Object.entries(nodeSelector).filter(([key]) => !capacity.has(key))),
      ...selectorOf(to, classes),
    },
    tolerations: [...unrelated, ...wanted],
  };
}

function isSameToleration(a: Toleration, b: Toleration): boolean {
  // Kubernetes reads a missing operator as Equal, and other missing fields as empty.
  return (a.operator ?? "Equal") === (b.operator ?? "Equal") && (a.key ?? "") === (b.key ?? "") &&
    (a.value ?? "") === (b.value ?? "") && (a.effect ?? "") === (b.effect ?? "") &&
    a.tolerationSeconds === b.tolerationSeconds;
}

/** True if both tolerate a common taint with this key. */
function toleratesSame(a: Toleration, b: Toleration): boolean {
  const isAny = [a, b].some(({ operator }) => operator === "Exists");
  return a.key !== undefined && a.key === b.key && (isAny || (a.value ?? "") === (b.value ?? "")) &&
    ([a, b].some(({ effect }) => !effect) || a.effect === b.effect);
}

/** Sets a whole field, if it changes. */
function setAll(
  path: string,
  { before, after }: { readonly before: object; readonly after: object },
): readonly JSONPatchOperation[] {
  return sameJSON(before, after) ? [] : [{ op: "add", path, value: after }];
}

/** Sets one text and leaves the others, as other webhooks may set theirs. */
function setText(
  path: string,
  { before, entry: [key, value] }: {
    readonly before: Labels | null | undefined;
    readonly entry: readonly [key: string, value: string];
  },
): readonly JSONPatchOperation[] {
  if (!before) return [{ op: "add", path, value: { [key]: value } }];
  return before[key] === value ? [] : [{ op: "add", path: `${path}/${pointerPart(key)}`, value }];
}

/** Ignores the order of keys, not that of lists. */
function sameJSON(one: object, other: object): boolean {
  const text = (value: object): string =>
    JSON.stringify(Array.isArray(value) ? value : Object.entries(value).sort());
  return text(one) === text(other);
}
