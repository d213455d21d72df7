/**
 * What admission says of a resize: LimitRanges and quotas of the namespace. Source: answers of a
 * kube-apiserver 1.36, whose messages these are in short.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import type { Pod } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import type { ObjectStore } from "./object_store.ts";

function forbidden({ metadata }: Pod, problem: string): ApiError {
  return new ApiError(403, "Forbidden", `pods "${metadata.name}" is forbidden: ${problem}`);
}

/** Throws 403 when a container of the pod lies outside a LimitRange of its namespace. */
export function checkLimitRanges({ tables }: ObjectStore, pod: Pod): void {
  for (const { metadata, items } of tables.LimitRange.all()) {
    if (metadata.namespace !== pod.metadata.namespace) continue;
    for (const { type, min = 0, max = Infinity } of items) {
      if (type !== "Container") continue;
      for (const { limitCPU, requestCPU } of pod.containers) {
        if ((limitCPU ?? 0) > max) {
          throw forbidden(
            pod,
            `maximum cpu usage per Container is ${max}m, but limit is ${limitCPU}m`,
          );
        }
        if ((requestCPU ?? 0) < min) {
          throw forbidden(
            pod,
            `minimum cpu usage per Container is ${min}m, but request is ${requestCPU ?? 0}m`,
          );
        }
      }
    }
  }
}

function totalLimit({ containers }: Pod): number {
  return containers.reduce((sum, { limitCPU = 0 }) => sum + limitCPU, 0);
}

/** Counts the change of the pod's limits in the namespace's quotas; throws 403 when one is full. */
export function chargeQuotas(
  { tables }: ObjectStore,
  { before, after }: { readonly before: Pod; readonly after: Pod },
): void {
  const { namespace } = after.metadata;
  const change = totalLimit(after) - totalLimit(before);
  const quotas = tables.ResourceQuota.all().filter(({ metadata, hardLimitsCPU }) =>
    metadata.namespace === namespace && hardLimitsCPU !== undefined
  );
  for (const { metadata, usedLimitsCPU, hardLimitsCPU = Infinity } of quotas) {
    if (change <= 0 || usedLimitsCPU + change <= hardLimitsCPU) continue;
    throw forbidden(
      after,
      `exceeded quota: ${metadata.name}, requested: limits.cpu=${change}m, ` +
        `used: limits.cpu=${usedLimitsCPU}m, limited: limits.cpu=${hardLimitsCPU}m`,
    );
  }
  for (const { metadata } of quotas) {
    tables.ResourceQuota.modify(objectKey(metadata), (quota) => ({
      ...quota,
      usedLimitsCPU: quota.usedLimitsCPU + change,
    }));
  }
}
