/**
 * Check: do the namespace's ResourceQuotas leave room for the raise?
 *
 * @module
 */
import type { QuotaScope, ResourceQuota } from "../../api/namespace.ts";
import type { Pod, ResourceName, Resources } from "../../api/pod.ts";
import type { Verdict } from "../run_checks.ts";
import { cutRaises } from "../inputs/cut_raises.ts";
import { formatAmount, type WantedResources } from "../inputs/resources.ts";
import { netChange, type Subject } from "../inputs/subject.ts";

/** The fields of a pod that scopes match. */
export type ScopedPod = Pick<Pod, "qosClass" | "priorityClassName" | "hasDeadline">;

/**
 * True when all scopes of the quota match the pod. A scope that can't be evaluated counts as a match, so
 * that no bound is exceeded. Source: `podMatchesScopeFunc` in Kubernetes 1.36,
 * pkg/quota/v1/evaluator/core/pods.go.
 */
export function quotaCounts({ scopes }: Pick<ResourceQuota, "scopes">, pod: ScopedPod): boolean {
  return scopes.every((scope) => matches(scope, pod) ?? true);
}

/** Undefined for scopes that can't be evaluated, such as `CrossNamespacePodAffinity`. */
function matches(scope: QuotaScope, pod: ScopedPod): boolean | undefined {
  // Only PriorityClass has operators; for the other scopes the server accepts Exists alone.
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
      return matchesClass(scope, pod.priorityClassName);
    default:
      return undefined;
  }
}

/** As in a label selector, `NotIn` and `DoesNotExist` match a pod without a class. */
function matchesClass(
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

/** The room that a ResourceQuota leaves in one of its bounds. */
export interface QuotaRoom {
  /** Name of the ResourceQuota; absent where unknown. */
  readonly name?: string | undefined;
  readonly resource: ResourceName;
  readonly side: keyof Resources;
  /** hard − used, millicores or bytes; may be negative. */
  readonly room: number;
}

/**
 * Cuts raises to what the quotas leave for all pods together. Decreases always pass, and make room for
 * raises of other containers.
 */
export function quotaVerdict(
  wanted: WantedResources,
  { quotas, subjects, step }: {
    readonly quotas: readonly QuotaRoom[];
    /** Subjects that the quotas count, each `count` times. */
    readonly subjects: readonly Subject[];
    /** Raises are cut to a multiple of this. @default {1} */
    readonly step?: number | undefined;
  },
): Verdict<"QuotaExceeded"> {
  const pods = subjects.reduce((sum, { count }) => sum + count, 0);
  const problems: string[] = [];
  let fitting = wanted;
  for (const quota of quotas) {
    const { name, resource, side } = quota;
    const net = subjects.reduce(
      (sum, one) => sum + one.count * netChange(one, fitting, { resource, side }),
      0,
    );
    const room = Math.max(0, quota.room);
    if (net <= room) continue;
    const base = (container: string): number =>
      Math.min(
        ...subjects.map(({ containers }) =>
          containers.find((one) => one.name === container)?.[side][resource] ?? 0
        ),
      );
    const excess = Math.ceil((net - room) / pods);
    fitting = cutRaises(fitting, { resource, side, base, excess, step });
    const source = name === undefined ? "the quota" : `ResourceQuota ${name}`;
    const raise = `a raise of ${formatAmount(resource, net)}`;
    const among = pods === 1 ? "" : ` in ${pods} pods`;
    const left = `${formatAmount(resource, room)} of ${side}.${resource}`;
    problems.push(`${source} leaves ${left} for ${raise}${among}`);
  }
  if (problems.length === 0) return undefined;
  const message = problems.join("; ");
  return { verdict: "clamp", reason: "QuotaExceeded", message, wanted: fitting };
}
