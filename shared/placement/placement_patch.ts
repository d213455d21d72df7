/**
 * The JSON patch that sends a pod which is being made to nodes of a class.
 *
 * @module
 */
import { type JSONPatchOperation, pointerPart } from "../admission/json_patch.ts";
import type { SentObject } from "../admission/admission_review.ts";
import type { Labels } from "../rightsizing/label_match.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import {
  capacityKeys,
  type NodeClass,
  type NodeClasses,
  otherClass,
  selectorOf,
  type Toleration,
} from "./node_classes.ts";
import { isMembers, textsIn } from "../admission/sent_members.ts";
import { CAPACITY } from "../api/placement_keys.ts";

/** Where to, and with which cost. */
export interface PlacementPatchOptions {
  readonly to: NodeClass;
  readonly classes: NodeClasses;
  /** Absent: the annotation stays as it was sent. */
  readonly deletionCost?: number | undefined;
}

/**
 * The steps from the pod as it was sent; none where it is so already. Throws a `TypeError` for an object
 * without a spec.
 */
export function placementPatch(
  { metadata, spec }: SentObject,
  { to, classes, deletionCost }: PlacementPatchOptions,
): readonly JSONPatchOperation[] {
  if (!isMembers(metadata) || !isMembers(spec)) {
    throw new TypeError("Cannot place a pod: metadata or spec is no object");
  }
  const nodeSelector = textsIn(spec["nodeSelector"]);
  const { tolerations: sent } = spec;
  // The server has decoded the pod before it asks: what is a list is one of tolerations.
  const tolerations: readonly Toleration[] = Array.isArray(sent) ? sent : [];
  const placed = placedFields(
    { nodeSelector, tolerations, labels: textsIn(metadata["labels"]) },
    { to, classes },
  );
  return [
    ...whole("/spec/nodeSelector", { before: nodeSelector, after: placed.nodeSelector }),
    ...whole("/spec/tolerations", { before: tolerations, after: placed.tolerations }),
    ...texts("/metadata/labels", { before: metadata["labels"], after: placed.labels }),
    ...(deletionCost === undefined ? [] : texts("/metadata/annotations", {
      before: metadata["annotations"],
      after: { [DELETION_COST]: String(deletionCost) },
    })),
  ];
}

/** Sets a member as a whole, where it changes. */
function whole(
  path: string,
  { before, after }: { readonly before: object; readonly after: object },
): readonly JSONPatchOperation[] {
  return sameJSON(before, after) ? [] : [{ op: "add", path, value: after }];
}

/** Sets texts one by one, as others may set theirs beside them. */
function texts(
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

/** The order of labels means nothing, that of a list is kept. */
function sameJSON(one: object, other: object): boolean {
  const text = (value: object): string =>
    JSON.stringify(Array.isArray(value) ? value : Object.entries(value).sort());
  return text(one) === text(other);
}

/** The fields of a pod that are of interest here. */
export interface PlacedFields {
  readonly nodeSelector: Labels;
  readonly tolerations: readonly Toleration[];
  readonly labels: Labels;
}

/** Where to. */
export interface PlacedFieldsOptions {
  readonly to: NodeClass;
  readonly classes: NodeClasses;
}

/**
 * The fields for the class: the selector and tolerations of the setting, and the label that tells it.
 * Whatever the pod says of capacity itself, also tolerations of the other class, gives way; all else
 * stays. Done twice, it is done once.
 */
export function placedFields(
  { nodeSelector, tolerations, labels }: PlacedFields,
  { to, classes }: PlacedFieldsOptions,
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

/** Whether it tolerates a taint of this key that the other tolerates, too, in whatever words. */
function toleratesSame(a: Toleration, b: Toleration): boolean {
  const isAny = [a, b].some(({ operator }) => operator === "Exists");
  return a.key !== undefined && a.key === b.key && (isAny || (a.value ?? "") === (b.value ?? "")) &&
    ([a, b].some(({ effect }) => !effect) || a.effect === b.effect);
}
