/**
 * Labels and annotations that should say yes or no, and say something else.
 *
 * @module
 */
import { ALLOW_OVERRIDES, MANAGED } from "../../shared/actuation/scope.ts";
import { switchWord, type Texts } from "../../shared/actuation/switch_words.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import type { BidFacts } from "./bid_rules/bid_rule.ts";
import { HPA_COORDINATION } from "./bid_rules/horizontal_autoscaler.ts";

/** Warnings of the switches that decide whether the pod takes part. */
export function managedWarnings(
  { pod, namespace }: Pick<BidFacts, "pod" | "namespace">,
): readonly string[] {
  return [
    ...warningsOf(MANAGED, [pod.metadata.labels, pod.metadata.annotations]),
    ...warningsOf(MANAGED, [namespace?.metadata.labels, namespace?.metadata.annotations]),
  ];
}

/** Warnings of all switches that concern a pod in the market. */
export function switchWarnings(
  facts: Pick<BidFacts, "pod" | "namespace" | "workload" | "autoscalers">,
): readonly string[] {
  const { pod, namespace, workload, autoscalers } = facts;
  return [
    ...managedWarnings(facts),
    ...warningsOf(ALLOW_OVERRIDES, [namespace?.metadata.labels]),
    ...warningsOf(
      HPA_COORDINATION,
      [pod, workload, ...autoscalers].map((one) => one?.metadata.annotations),
    ),
  ];
}

function warningsOf(key: string, places: readonly (Texts | undefined)[]): readonly string[] {
  return places.flatMap((texts = {}) => {
    const text = Object.hasOwn(texts, key) ? texts[key] : undefined;
    if (text === undefined || switchWord(texts, key) !== undefined) return [];
    return [`${key}: ${quotedText(text)} is not "true" or "false"`];
  });
}
