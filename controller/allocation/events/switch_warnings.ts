/**
 * Warnings about labels and annotations with a value other than "true" or "false", and about those
 * without effect.
 *
 * @module
 */
import { HPA_COORDINATION } from "../../../shared/resize/checks/horizontal_autoscaler.ts";
import {
  ALLOW_OVERRIDES,
  MANAGED,
  managedValue,
  type OutOfScope,
  SKIP_GUARANTEED,
} from "../../../shared/resize/scope.ts";
import { switchValue, type Texts } from "../../../shared/resize/inputs/switches.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { type AnnotatedObjects, annotationPlaceWarnings } from "./annotation_places.ts";
import {
  type AnnotationWarning,
  autoscalerSubject,
  namespaceSubject,
  warningOf,
  workloadSubject,
} from "../bounds/annotation_warning.ts";

/**
 * Warnings about keys that may have been meant to manage a pod that is out of scope for this reason.
 */
export function outsideWarnings(
  facts: AnnotatedObjects,
  scope: OutOfScope | undefined,
): readonly AnnotationWarning[] {
  switch (scope?.reason) {
    case "NotOptedIn":
      return [
        ...wantsIn(facts).map((say) => say(scope.message)),
        ...managedWarnings(facts),
        ...annotationPlaceWarnings(facts),
      ];
    case "OptedOut":
      return [...managedWarnings(facts), ...annotationPlaceWarnings(facts)];
    case "NotBurstable":
      return [...skipWarnings(facts), ...annotationPlaceWarnings(facts)];
    default:
      return [];
  }
}

/** The objects that ask for management without effect; the scope's message names what is missing. */
function wantsIn(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly ((message: string) => AnnotationWarning)[] {
  if (managedValue(pod) === "true") return [warningOf(undefined)];
  if (namespace === undefined || managedValue(namespace) !== "true") return [];
  return [warningOf(namespaceSubject(namespace))];
}

function skipWarnings({ pod }: Pick<BidFacts, "pod">): readonly string[] {
  return warningsOf(SKIP_GUARANTEED, [pod.metadata.annotations]);
}

/** Warnings about the switches that decide whether the pod takes part. */
export function managedWarnings(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly AnnotationWarning[] {
  const theirs = namespace === undefined ? undefined : namespaceSubject(namespace);
  return [
    ...warningsOf(MANAGED, [pod.metadata.labels, pod.metadata.annotations]),
    ...warningsOf(MANAGED, [namespace?.metadata.labels, namespace?.metadata.annotations])
      .map(warningOf(theirs)),
  ];
}

/** Warnings about all switches that concern a pod in the market, and about keys without effect. */
export function switchWarnings(facts: AnnotatedObjects): readonly AnnotationWarning[] {
  const { pod, namespace, workload, autoscalers } = facts;
  const coordinating = [
    { annotations: pod.metadata.annotations, about: undefined },
    ...(workload === undefined
      ? []
      : [{ annotations: workload.metadata.annotations, about: workloadSubject(workload) }]),
    ...autoscalers.map((one) => ({
      annotations: one.metadata.annotations,
      about: autoscalerSubject(one),
    })),
  ];
  return [
    ...managedWarnings(facts),
    ...skipWarnings(facts),
    ...(namespace === undefined ? [] : warningsOf(ALLOW_OVERRIDES, [namespace.metadata.labels])
      .map(warningOf(namespaceSubject(namespace)))),
    ...coordinating.flatMap(({ annotations, about }) =>
      warningsOf(HPA_COORDINATION, [annotations]).map(warningOf(about))
    ),
    ...annotationPlaceWarnings(facts),
  ];
}

function warningsOf(key: string, places: readonly (Texts | undefined)[]): readonly string[] {
  return places.flatMap((texts = {}) => {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined || switchValue(texts, key) !== undefined) return [];
    return [`${key}: ${quotedText(text)} is not "true" or "false"`];
  });
}
