/**
 * Labels and annotations that should say yes or no, and say something else.
 *
 * @module
 */
import { HPA_COORDINATION } from "../../shared/actuation/hpa_coordination.ts";
import {
  ALLOW_OVERRIDES,
  MANAGED,
  type OutOfScope,
  SKIP_GUARANTEED,
} from "../../shared/actuation/scope.ts";
import { switchWord, type Texts } from "../../shared/actuation/switch_words.ts";
import { quotedText } from "../../shared/quoted_text.ts";
import type { BidFacts } from "./bid_rules/bid_rule.ts";

/** Warnings of the switches that might have taken in a pod that is left alone for this reason. */
export function outsideWarnings(
  facts: Pick<BidFacts, "pod" | "namespace">,
  reason: OutOfScope["reason"] | undefined,
): readonly string[] {
  if (reason === "NotOptedIn" || reason === "OptedOut") return managedWarnings(facts);
  return reason === "NotBurstable" ? skipWarnings(facts) : [];
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

/** Warnings of all switches that concern a pod in the market. */
export function switchWarnings(
  facts: Pick<BidFacts, "pod" | "namespace" | "workload" | "autoscalers">,
): readonly string[] {
  const { pod, namespace, workload, autoscalers } = facts;
  return [
    ...managedWarnings(facts),
    ...skipWarnings(facts),
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
