/**
 * A pod that is being created: its admission request, the decision about it, and the JSON patch that sends it
 * to nodes of a class.
 *
 * @module
 */
import type { AdmissionRequest, SentObject } from "../admission/admission_review.ts";
import { isMembers, membersOf, textIn, textsIn } from "../members.ts";
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
import type { AwaitedPod } from "./admit_pod.ts";
import { type JSONPatchOperation, pointerPart } from "../admission/json_patch.ts";
import type { Labels } from "../api/label_selector.ts";

/** A pod that is being created. */
export interface PlacementRequest {
  readonly namespace: string;
  /** The pod's controller. */
  readonly owner: {
    readonly apiVersion: string;
    readonly kind: string;
    readonly name: string;
    readonly uid: string;
  };
  readonly revision: string;
  readonly pod: AwaitedPod;
  /**
   * The decision that the pod carries: a server asks again if another webhook has changed the pod since,
   * and many pods have neither name nor UID by then.
   */
  readonly decided?: { readonly class: NodeClass; readonly deletionCost?: number };
  /** True if the pod names its class itself, or can run on neither. */
  readonly pinned?: true;
  /** The only class of the hosts in its affinity. */
  readonly only?: NodeClass;
  /** The claims of its volumes; absent if there are none. */
  readonly claims?: readonly string[];
  /** True if nothing will be stored. */
  readonly dryRun: boolean;
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
  | { readonly class: NodeClass; readonly deletionCost?: number }
  | { readonly unplaced: UnplacedReason; readonly warning?: string };

/** The pod of a request; undefined if it has no controller, or is not being created. */
export function placementRequest(
  { resource, operation, namespace, dryRun, object }: AdmissionRequest,
): PlacementRequest | undefined {
  if (resource !== "pods" || operation !== "CREATE" || object === undefined) return undefined;
  const metadata = membersOf(object["metadata"]);
  const { ownerReferences } = metadata;
  const owners = Array.isArray(ownerReferences) ? ownerReferences.map(membersOf) : [];
  const controller = owners.find((one) => one["controller"] === true) ?? {};
  const owner = {
    apiVersion: textIn(controller["apiVersion"]) ?? "",
    kind: textIn(controller["kind"]) ?? "",
    name: textIn(controller["name"]) ?? "",
    uid: textIn(controller["uid"]) ?? "",
  };
  if (Object.values(owner).includes("")) return undefined;
  const labels = textsIn(metadata["labels"]);
  const cost = textsIn(metadata["annotations"])[DELETION_COST];
  const claims = claimsOf(object);
  return {
    namespace,
    owner,
    revision: revisionOf(labels),
    pod: {
      ...present("uid", textIn(metadata["uid"])),
      ...present("name", textIn(metadata["name"])),
      ...present("generateName", textIn(metadata["generateName"])),
    },
    ...present("decided", decisionIn(labels[CAPACITY], cost)),
    ...(claims.length === 0 ? {} : { claims }),
    dryRun,
  };
}

function claimsOf({ spec }: SentObject): readonly string[] {
  const { volumes } = membersOf(spec);
  const sent = Array.isArray(volumes) ? volumes.map(membersOf) : [];
  return sent.flatMap(({ persistentVolumeClaim }) =>
    textIn(membersOf(persistentVolumeClaim)["claimName"]) ?? []
  );
}

function decisionIn(
  capacity: string | undefined,
  cost: string | undefined,
): PlacementRequest["decided"] {
  if (capacity !== "spot" && capacity !== "on-demand") return undefined;
  const deletionCost = cost !== undefined && /^-?\d{1,10}$/.test(cost) ? Number(cost) : undefined;
  return { class: capacity, ...present("deletionCost", deletionCost) };
}

/** A member, unless the value is undefined. */
function present<K extends string, V>(
  name: K,
  value: V | undefined,
): { readonly [name in K]?: V } {
  return value === undefined ? {} : { [name]: value } as { readonly [name in K]?: V };
}

/** The target of a pod. */
export interface PlacementTargetOptions {
  readonly to: NodeClass;
  readonly classes: NodeClasses;
}

/**
 * The patch; empty if the pod is already as it should be. Without a deletion cost the annotation is not
 * changed. Throws a `TypeError` for an object without a spec.
 */
export function placementPatch(
  { metadata, spec }: SentObject,
  { to, classes, deletionCost }: PlacementTargetOptions & {
    readonly deletionCost?: number | undefined;
  },
): readonly JSONPatchOperation[] {
  if (!isMembers(metadata) || !isMembers(spec)) {
    throw new TypeError("Cannot place a pod: metadata or spec is no object");
  }
  const nodeSelector = textsIn(spec["nodeSelector"]);
  const { tolerations: sent } = spec;
  // The server has validated the pod before, so a list is one of tolerations.
  const tolerations: readonly Toleration[] = Array.isArray(sent) ? sent : [];
  const placed = placedFields(
    { nodeSelector, tolerations, labels: textsIn(metadata["labels"]) },
    { to, classes },
  );
  return [
    ...setAll("/spec/nodeSelector", { before: nodeSelector, after: placed.nodeSelector }),
    ...setAll("/spec/tolerations", { before: tolerations, after: placed.tolerations }),
    ...setTexts("/metadata/labels", { before: metadata["labels"], after: placed.labels }),
    ...(deletionCost === undefined ? [] : setTexts("/metadata/annotations", {
      before: metadata["annotations"],
      after: { [DELETION_COST]: String(deletionCost) },
    })),
  ];
}

/** The fields of a pod that placement sets. */
export interface PlacedFields {
  readonly nodeSelector: Labels;
  readonly tolerations: readonly Toleration[];
  readonly labels: Labels;
}

/**
 * Sets selector and tolerations of the class, and the label that names it. Replaces all that the pod says
 * of capacity, including tolerations of the other class, and keeps the rest. Idempotent.
 */
export function placedFields(
  { nodeSelector, tolerations, labels }: PlacedFields,
  { to, classes }: PlacementTargetOptions,
): PlacedFields {
  const capacity = capacityKeys(classes);
  const own = classes[to].tolerations;
  const others = classes[otherClass(to)].tolerations;
  const kept = tolerations.filter((one) =>
    ![...own, ...others].some((known) => isSameToleration(one, known)) &&
    !others.some((known) => toleratesSame(one, known))
  );
  return {
    nodeSelector: {
      ...Object.fromEntries(Object.entries(nodeSelector).filter(([key]) => !capacity.has(key))),
      ...selectorOf(to, classes),
    },
    tolerations: [...kept, ...own],
    labels: { ...labels, [CAPACITY]: to },
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

/** Sets texts one by one, as other webhooks may set theirs. */
function setTexts(
  path: string,
  { before, after }: { readonly before: unknown; readonly after: Labels },
): readonly JSONPatchOperation[] {
  if (!isMembers(before)) return [{ op: "add", path, value: after }];
  return Object.entries(after).flatMap(([key, value]) =>
    Object.hasOwn(before, key) && before[key] === value
      ? []
      : [{ op: "add" as const, path: `${path}/${pointerPart(key)}`, value }]
  );
}

/** Ignores the order of keys, not that of lists. */
function sameJSON(one: object, other: object): boolean {
  const text = (value: object): string =>
    JSON.stringify(Array.isArray(value) ? value : Object.entries(value).sort());
  return text(one) === text(other);
}
