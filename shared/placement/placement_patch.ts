/**
 * The JSON patch that sends a pod which is being made to nodes of a class.
 *
 * @module
 */
import type { SentObject } from "../admission/admission_review.ts";
import { type JSONPatchOperation, pointerPart } from "../admission/json_patch.ts";
import { isMembers, textsIn } from "../admission/sent_members.ts";
import type { Labels } from "../api/label_selector.ts";
import { DELETION_COST } from "./deletion_cost.ts";
import type { NodeClass } from "./node_class.ts";
import type { NodeClasses, Toleration } from "./node_classes.ts";
import { placedFields } from "./placed_fields.ts";

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
