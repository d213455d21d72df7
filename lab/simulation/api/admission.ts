/**
 * Checks of a resize at admission beside LimitRanges: size of the node, quotas of the namespace.
 * Source: answers of a kube-apiserver 1.36 (messages shortened).
 *
 * @module
 */
import { ApiError } from "../../../shared/api/api_error.ts";
import type { Pod, ResourceName, Resources } from "../../../shared/api/pod.ts";
import type { BoundedResource, QuotaBound, ResourceQuota } from "../../../shared/api/namespace.ts";
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

/** The change that a pod's resize makes to a quota, by resource. */
function changesOf(before: Pod, after: Pod): Readonly<Record<BoundedResource, number>> {
  const change = (side: keyof Resources, resource: ResourceName): number =>
    totalOf(after, side, resource) - totalOf(before, side, resource);
  return {
    "limits.cpu": change("limits", "cpu"),
    "requests.cpu": change("requests", "cpu"),
    "limits.memory": change("limits", "memory"),
    "requests.memory": change("requests", "memory"),
  };
}

function boundsOf(
  { bounds }: ResourceQuota,
): readonly (readonly [BoundedResource, QuotaBound])[] {
  return Object.entries(bounds) as [BoundedResource, QuotaBound][];
}

/** The quota with what is used of it after the change. */
function charged(
  quota: ResourceQuota,
  changes: Readonly<Record<BoundedResource, number>>,
): ResourceQuota {
  const bounds = boundsOf(quota).map(([resource, { hard, used }]) =>
    [resource, { hard, used: used + changes[resource] }] as const
  );
  return { ...quota, bounds: Object.fromEntries(bounds) };
}

/** Counts what the pod changes in the namespace's quotas; throws 403 when one is full. */
export function chargeQuotas(
  { tables }: ObjectStore,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): void {
  const changes = changesOf(before, after);
  const quotas = tables.ResourceQuota.all().filter((quota) =>
    quota.metadata.namespace === after.metadata.namespace && quotaCounts(quota, after)
  );
  for (const quota of quotas) {
    for (const [resource, bound] of boundsOf(quota)) {
      const change = changes[resource];
      if (change <= 0 || bound.used + change <= bound.hard) continue;
      const quantityText = (amount: number): string =>
        `${resource}=${amount}${resource.endsWith("cpu") ? "m" : ""}`;
      throw forbidden(
        after,
        `exceeded quota: ${quota.metadata.name}, requested: ${quantityText(change)}, ` +
          `used: ${quantityText(bound.used)}, limited: ${quantityText(bound.hard)}`,
      );
    }
  }
  for (const { metadata } of quotas) {
    tables.ResourceQuota.modify(objectKey(metadata), (quota) => charged(quota, changes));
  }
}
