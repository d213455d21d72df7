/**
 * The JSON patch that sends a new pod to nodes of a class.
 *
 * @module
 */
import type { SentObject } from "../admission/admission_review.ts";
import { type JSONPatchOperation, pointerPart } from "../admission/json_patch.ts";
import { isMembers, textsIn } from "../admission/sent_members.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import type { Labels } from "../api/label_selector.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import {
  capacityKeys,
  type NodeClass,
  type NodeClasses,
  otherClass,
  selectorOf,
  type Toleration,
} from "./node_classes.ts";

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
