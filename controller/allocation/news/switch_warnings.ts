/**
 * Labels and annotations that should say yes or no, and say something else; and words that nobody
 * reads.
 *
 * @module
 */
import { HPA_COORDINATION } from "../../../shared/actuation/hpa_coordination.ts";
import {
  ALLOW_OVERRIDES,
  MANAGED,
  managedWord,
  type OutOfScope,
  SKIP_GUARANTEED,
} from "../../../shared/actuation/scope.ts";
import { switchWord, type Texts } from "../../../shared/actuation/switch_words.ts";
import { quotedText } from "../../../shared/quoted_text.ts";
import type { BidFacts } from "../bid_rules/bid_rule.ts";
import { type WordHolders, wordPlaceWarnings } from "./word_places.ts";

/** Warnings of the words that might have taken in a pod that is left alone for this reason. */
export function outsideWarnings(
  facts: WordHolders,
  scope: OutOfScope | undefined,
): readonly string[] {
  switch (scope?.reason) {
    case "NotOptedIn":
      return [
        ...(wantsIn(facts) ? [scope.message] : []),
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

/** True where a word says yes and does not count: the scope's sentence says what is missing. */
function wantsIn({ pod, namespace }: Pick<BidFacts, "pod" | "namespace">): boolean {
  return [pod, namespace].some((one) => one !== undefined && managedWord(one) === "true");
}

function skipWarnings({ pod }: Pick<BidFacts, "pod">): readonly string[] {
  return warningsOf(SKIP_GUARANTEED, [pod.metadata.annotations]);
}

/** Warnings of the switches that decide whether the pod takes part. */
export function managedWarnings(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly string[] {
  return [
    ...warningsOf(MANAGED, [pod.metadata.labels, pod.metadata.annotations]),
    ...warningsOf(MANAGED, [namespace?.metadata.labels, namespace?.metadata.annotations]),
  ];
}

/** Warnings of all switches that concern a pod in the market, and of words that nobody reads. */
export function switchWarnings(facts: WordHolders): readonly string[] {
  const { pod, namespace, workload, autoscalers } = facts;
  return [
    ...managedWarnings(facts),
    ...skipWarnings(facts),
    ...warningsOf(ALLOW_OVERRIDES, [namespace?.metadata.labels]),
    ...warningsOf(
      HPA_COORDINATION,
      [pod, workload, ...autoscalers].map((one) => one?.metadata.annotations),
    ),
    ...wordPlaceWarnings(facts),
  ];
}

function warningsOf(key: string, places: readonly (Texts | undefined)[]): readonly string[] {
  return places.flatMap((texts = {}) => {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined || switchWord(texts, key) !== undefined) return [];
    return [`${key}: ${quotedText(text)} is not "true" or "false"`];
  });
}
