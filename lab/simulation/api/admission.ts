/**
 * What admission says of a resize beside LimitRanges: size of the node, quotas of the namespace.
 * Source: answers of a kube-apiserver 1.36 (messages shortened).
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, ResourceName, Resources } from "../../../shared/api/pod.ts";
import type { QuotaBound, ResourceQuota } from "../../../shared/api/namespace.ts";
import { objectKey } from "../../../shared/control/object_key.ts";
import { quotaCounts } from "../../../shared/resize/checks/resource_quota.ts";
import { forbidden } from "./limit_ranger.ts";
import type { ObjectStore } from "./object_store.ts";

/**
 * Throws 403 when the pod asks for more than its whole node has; what others on it ask for is the
 * kubelet's business. A pod on a node that is not in the store is let through: scenes need none.
 */
export function checkNode({ tables }: ObjectStore, pod: Pod): void {
  const { allocatableCPU = Infinity } = tables.Node.get(pod.nodeName) ?? {};
  const requested = totalOf(pod, "requests", "cpu");
  if (requested <= allocatableCPU) return;
  const problem = "node didn't have enough allocatable resources: cpu, " +
    `requested: ${requested}, allocatable: ${allocatableCPU}`;
  const { status, reason, message } = forbidden(pod, problem);
  throw new ApiError(status, reason, message, { causes: ["NodeCapacity"] });
}

function totalOf({ containers }: Pod, side: keyof Resources, resource: ResourceName): number {
  return containers.reduce((sum, container) => sum + (container[side][resource] ?? 0), 0);
}

interface Charge {
  readonly resource: "limits.cpu" | "requests.cpu" | "limits.memory" | "requests.memory";
  readonly change: number;
  readonly bound: QuotaBound | undefined;
}

function chargesOf(
  { hardLimitsCPU: hard, usedLimitsCPU: used, requestsCPU, memory }: ResourceQuota,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): readonly Charge[] {
  const change = (side: keyof Resources, resource: ResourceName): number =>
    totalOf(after, side, resource) - totalOf(before, side, resource);
  const limits = hard === undefined ? undefined : { hard, used };
  return [
    { resource: "limits.cpu", change: change("limits", "cpu"), bound: limits },
    { resource: "requests.cpu", change: change("requests", "cpu"), bound: requestsCPU },
    { resource: "limits.memory", change: change("limits", "memory"), bound: memory?.limits },
    { resource: "requests.memory", change: change("requests", "memory"), bound: memory?.requests },
  ];
}

/** The bounds with what is used of them after the change. */
function charged(quota: ResourceQuota, charges: readonly Charge[]): ResourceQuota {
  const after = (resource: Charge["resource"]): QuotaBound | undefined => {
    const { bound, change } = charges.find((one) => one.resource === resource) ?? {};
    return bound === undefined ? undefined : { ...bound, used: bound.used + (change ?? 0) };
  };
  const [requestsCPU, limits, requests] = [
    after("requests.cpu"),
    after("limits.memory"),
    after("requests.memory"),
  ];
  return {
    ...quota,
    usedLimitsCPU: after("limits.cpu")?.used ?? quota.usedLimitsCPU,
    ...(requestsCPU === undefined ? {} : { requestsCPU }),
    ...(quota.memory === undefined ? {} : {
      memory: {
        ...(requests === undefined ? {} : { requests }),
        ...(limits === undefined ? {} : { limits }),
      },
    }),
  };
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
      const quantityText = (amount: number): string =>
        `${resource}=${amount}${resource.endsWith("cpu") ? "m" : ""}`;
      throw forbidden(
        after,
        `exceeded quota: ${quota.metadata.name}, requested: ${quantityText(change)}, ` +
          `used: ${quantityText(bound.used)}, limited: ${quantityText(bound.hard)}`,
      );
    }
  }
  for (const quota of quotas) {
    const charges = chargesOf(quota, { before, after });
    tables.ResourceQuota.modify(
      objectKey(quota.metadata),
      (stored) => charged(stored, charges),
    );
  }
}
