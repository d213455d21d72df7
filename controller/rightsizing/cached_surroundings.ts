/**
 * Who else has a say in a workload's values, from the controller's copies.
 *
 * @module
 */
import {
  type LimitRange,
  type ResourceQuota,
  unreadableWords,
} from "../../shared/api/namespace.ts";
import type {
  HorizontalPodAutoscaler,
  VerticalPodAutoscaler,
} from "../../shared/api/autoscalers.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { Informer } from "../../shared/control/informer.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { namespaceRules } from "../../shared/rightsizing/namespace_rules.ts";

/** The copies of autoscalers. */
export interface AutoscalerCaches {
  readonly horizontalPodAutoscalers: Pick<Informer<HorizontalPodAutoscaler>, "byIndex">;
  readonly verticalPodAutoscalers: Pick<Informer<VerticalPodAutoscaler>, "byIndex">;
}

/** The copies of what bounds a namespace. */
export interface RuleCaches {
  readonly limitRanges: Pick<Informer<LimitRange>, "byIndex">;
  readonly resourceQuotas: Pick<Informer<ResourceQuota>, "byIndex">;
}

/** What bounds the values of a namespace's pods, and what of it can't be read. */
export type NamespaceRules = Pick<RightsizingFacts, "ranges" | "quotas" | "unreadable">;

/** The autoscalers of the workload, and a sentence for each that can't be read. */
export function cachedAutoscalers(
  { horizontalPodAutoscalers, verticalPodAutoscalers }: AutoscalerCaches,
  { kind, metadata: { namespace, name } }: RightsizedWorkload,
): Pick<RightsizingFacts, "autoscalers" | "verticalAutoscalers" | "unreadable"> {
  const isFor = ({ target }: { readonly target: { kind: string; name: string } }): boolean =>
    target.kind === kind && target.name === name;
  const autoscalers = horizontalPodAutoscalers.byIndex(namespace).filter(isFor);
  const verticalAutoscalers = verticalPodAutoscalers.byIndex(namespace).filter(isFor);
  return {
    autoscalers,
    verticalAutoscalers,
    unreadable: unreadableWords("VerticalPodAutoscaler", verticalAutoscalers),
  };
}

/** The rules of the workload's namespace for these pods of it, and those to come. */
export function cachedRules(
  { limitRanges, resourceQuotas }: RuleCaches,
  { metadata: { namespace }, template }: RightsizedWorkload,
  { pods }: { readonly pods: readonly Pod[] },
): NamespaceRules {
  return namespaceRules({
    limitRanges: limitRanges.byIndex(namespace),
    quotas: resourceQuotas.byIndex(namespace),
  }, { template, pods });
}
