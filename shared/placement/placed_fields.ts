/**
 * What a pod is given so that it runs on nodes of a class.
 *
 * @module
 */
import type { Labels } from "../api/label_selector.ts";
import { CAPACITY } from "../api/placement_keys.ts";
import { type NodeClass, otherClass } from "./node_class.ts";
import { capacityKeys, type NodeClasses, selectorOf, type Toleration } from "./node_classes.ts";

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
