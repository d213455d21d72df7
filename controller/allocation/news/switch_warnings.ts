/**
 * Labels and annotations that should say yes or no, and say something else; and words that nobody
 * reads.
 *
 * @module
 */
import { quotedText } from "../../../shared/quoted_text.ts";
import { HPA_COORDINATION } from "../../../shared/resize/checks/horizontal_autoscaler.ts";
import { switchValue, type Texts } from "../../../shared/resize/inputs/switches.ts";
import {
  ALLOW_OVERRIDES,
  MANAGED,
  managedValue,
  type OutOfScope,
  SKIP_GUARANTEED,
} from "../../../shared/resize/scope.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { type WordHolders, wordPlaceWarnings } from "./word_places.ts";
import {
  autoscalerSubject,
  namespaceSubject,
  warningOf,
  type WordWarning,
  workloadSubject,
} from "./word_warning.ts";

/** Warnings of the words that might have taken in a pod that is left alone for this reason. */
export function outsideWarnings(
  facts: WordHolders,
  scope: OutOfScope | undefined,
): readonly WordWarning[] {
  switch (scope?.reason) {
    case "NotOptedIn":
      return [
        ...wantsIn(facts).map((say) => say(scope.message)),
        ...managedWarnings(facts),
        ...wordPlaceWarnings(facts),
      ];
    case "OptedOut":
      return [...managedWarnings(facts), ...wordPlaceWarnings(facts)];
    case "NotBurstable":
      return [...skipWarnings(facts), ...wordPlaceWarnings(facts)];
    default:
      return [];
  }
}

/** Who says yes where it does not count: the scope's sentence says what is missing. */
function wantsIn(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly ((message: string) => WordWarning)[] {
  if (managedValue(pod) === "true") return [warningOf(undefined)];
  if (namespace === undefined || managedValue(namespace) !== "true") return [];
  return [warningOf(namespaceSubject(namespace))];
}

function skipWarnings({ pod }: Pick<BidFacts, "pod">): readonly string[] {
  return warningsOf(SKIP_GUARANTEED, [pod.metadata.annotations]);
}

/** Warnings of the switches that decide whether the pod takes part. */
export function managedWarnings(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly WordWarning[] {
  const theirs = namespace === undefined ? undefined : namespaceSubject(namespace);
  return [
    ...warningsOf(MANAGED, [pod.metadata.labels, pod.metadata.annotations]),
    ...warningsOf(MANAGED, [namespace?.metadata.labels, namespace?.metadata.annotations])
      .map(warningOf(theirs)),
  ];
}

/** Warnings of all switches that concern a pod in the market, and of words that nobody reads. */
export function switchWarnings(facts: WordHolders): readonly WordWarning[] {
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
    ...wordPlaceWarnings(facts),
  ];
}

function warningsOf(key: string, places: readonly (Texts | undefined)[]): readonly string[] {
  return places.flatMap((texts = {}) => {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined || switchValue(texts, key) !== undefined) return [];
    return [`${key}: ${quotedText(text)} is not "true" or "false"`];
  });
}
