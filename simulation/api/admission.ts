/**
 * What admission says of a resize beside LimitRanges: size of the node, quotas of the namespace. Source: answers of a kube-apiserver 1.36, whose messages these are in short.
 *
 * @module
 */
import { quotaCounts } from "../../shared/actuation/quota_counts.ts";
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import type { QuotaBound, ResourceQuota } from "../../shared/api/resource_quota.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { forbidden } from "./limit_ranger.ts";
import type { ObjectStore } from "./object_store.ts";

/**
 * Throws 403 when the pod asks for more than its whole node has; what others on it ask for is the
 * kubelet's business. A pod on a node that is not in the store is let through: scenes need none.
 */
export function checkNode({ tables }: ObjectStore, pod: Pod): void {
  const { allocatableCPU = Infinity } = tables.Node.get(pod.nodeName) ?? {};
  const requested = totalOf(pod, "requestCPU");
  if (requested <= allocatableCPU) return;
  const problem = "node didn't have enough allocatable resources: cpu, " +
    `requested: ${requested}, allocatable: ${allocatableCPU}`;
  const { status, reason, message } = forbidden(pod, problem);
  throw new ApiError(status, reason, message, { causes: ["NodeCapacity"] });
}

function totalOf({ containers }: Pod, field: "limitCPU" | "requestCPU"): number {
  return containers.reduce((sum, container) => sum + (container[field] ?? 0), 0);
}

interface Charge {
  readonly resource: "limits.cpu" | "requests.cpu";
  readonly change: number;
  readonly bound: QuotaBound | undefined;
}

function chargesOf(
  { hardLimitsCPU: hard, usedLimitsCPU: used, requestsCPU }: ResourceQuota,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): readonly Charge[] {
  const change = (field: "limitCPU" | "requestCPU"): number =>
    totalOf(after, field) - totalOf(before, field);
  const limits = hard === undefined ? undefined : { hard, used };
  return [
    { resource: "limits.cpu", change: change("limitCPU"), bound: limits },
    { resource: "requests.cpu", change: change("requestCPU"), bound: requestsCPU },
  ];
}

/** Counts what the pod changes in the namespace's quotas; throws 403 when one is full. */
export function chargeQuotas(
  { tables }: ObjectStore,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): void {
  const { namespace } = after.metadata;
  const quotas = tables.ResourceQuota.all().filter((quota) =>
    quota.metadata.namespace === namespace && quotaCounts(quota, after)
  );
  for (const quota of quotas) {
    for (const { resource, change, bound } of chargesOf(quota, { before, after })) {
      if (bound === undefined || change <= 0 || bound.used + change <= bound.hard) continue;
      throw forbidden(
        after,
        `exceeded quota: ${quota.metadata.name}, requested: ${resource}=${change}m, ` +
          `used: ${resource}=${bound.used}m, limited: ${resource}=${bound.hard}m`,
      );
    }
  }
  for (const quota of quotas) {
    const [limits, requests] = chargesOf(quota, { before, after });
    const usedLimitsCPU = limits?.bound === undefined
      ? quota.usedLimitsCPU
      : limits.bound.used + limits.change;
    const requestsCPU = requests?.bound && {
      ...requests.bound,
      used: requests.bound.used + requests.change,
    };
    tables.ResourceQuota.modify(objectKey(quota.metadata), (stored) => ({
      ...stored,
      usedLimitsCPU,
      ...(requestsCPU === undefined ? {} : { requestsCPU }),
    }));
  }
}
