/**
 * Check: do the namespace's ResourceQuotas leave room for the raise?
 *
 * @module
 */
import type { Pod } from "../../api/pod.ts";
import type { QuotaScope, ResourceQuota } from "../../api/resource_quota.ts";
import type { PodFacts, Verdict, WantedLimits } from "../check.ts";
import { changeOf, cutRaises } from "../cut_raises.ts";

/** What scopes look at. */
export type ScopedPod = Pick<Pod, "qosClass" | "priorityClassName" | "hasDeadline">;

/**
 * True when all scopes of the quota take the pod in; one that can't be judged here counts for a yes, so
 * that a bound is rather kept in vain than broken. Source: `podMatchesScopeFunc` in Kubernetes 1.36,
 * pkg/quota/v1/evaluator/core/pods.go.
 */
export function quotaCounts({ scopes }: Pick<ResourceQuota, "scopes">, pod: ScopedPod): boolean {
  return scopes.every((scope) => takesIn(scope, pod) ?? true);
}

/** Undefined where it can't be judged, as of `CrossNamespacePodAffinity` and scopes to come. */
function takesIn(scope: QuotaScope, pod: ScopedPod): boolean | undefined {
  // Operators are for PriorityClass alone: the server takes no other than Exists beside the others.
  switch (scope.name) {
    case "Terminating":
      return pod.hasDeadline === true;
    case "NotTerminating":
      return pod.hasDeadline !== true;
    case "BestEffort":
      return pod.qosClass === "BestEffort";
    case "NotBestEffort":
      return pod.qosClass !== "BestEffort";
    case "PriorityClass":
      return takesClass(scope, pod.priorityClassName);
    default:
      return undefined;
  }
}

/** As a label selector: who has no class is in `NotIn` and `DoesNotExist`. */
function takesClass(
  { operator, values }: QuotaScope,
  name: string | undefined,
): boolean | undefined {
  switch (operator) {
    case "Exists":
      return name !== undefined;
    case "DoesNotExist":
      return name === undefined;
    case "In":
      return values.length === 0 ? undefined : name !== undefined && values.includes(name);
    case "NotIn":
      return values.length === 0 ? undefined : name === undefined || !values.includes(name);
    default:
      return undefined;
  }
}

/** Cuts the raises of the pod to what the quota leaves. Decreases always pass. */
export function overQuota(
  { pod, quotaHeadroom, quotaName }: PodFacts,
  limits: WantedLimits,
): Verdict {
  if (pod === undefined || quotaHeadroom === undefined) return undefined;
  const { net, raises } = changeOf(pod, limits);
  if (net <= quotaHeadroom || raises === 0) return undefined;
  const cut = cutRaises(pod, limits, { room: quotaHeadroom });
  const quota = quotaName === undefined ? "the quota" : `ResourceQuota ${quotaName}`;
  const message = `${quota} leaves ${Math.max(0, quotaHeadroom)}m for a raise of ${net}m`;
  const present = new Map(pod.containers.map(({ name, limitCPU }) => [name, limitCPU]));
  const nothingLeft = [...cut].every(([name, limit]) => present.get(name) === limit);
  return nothingLeft
    ? { verdict: "hold", reason: "QuotaExceeded", message }
    : { verdict: "clamp", reason: "QuotaExceeded", message, limits: cut };
}
