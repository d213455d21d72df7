/**
 * What the ResourceQuotas of a namespace leave for a workload.
 *
 * @module
 */
import type { QuotaBound, ResourceQuota } from "../api/namespace.ts";
import type { PodTemplate } from "../api/workload.ts";
import { quotaCounts, type QuotaRoom, type ScopedPod } from "../resize/checks/resource_quota.ts";
import { qosClassOfPod } from "../resize/inputs/qos.ts";

/** The pods that there are, and what new ones are made of. */
export interface CountedWorkload {
  readonly pods: readonly ScopedPod[];
  readonly template: PodTemplate;
}

/**
 * The rooms of all quotas that count any of the pods, or such as are to come: a change must fit them
 * all. Quotas that can't be read seem to bound nothing: `namespaceRules()` tells of them.
 */
export function quotaRoomsOf(
  quotas: readonly ResourceQuota[],
  { pods, template }: CountedWorkload,
): readonly QuotaRoom[] {
  const counted = [...pods, { ...template, qosClass: qosClassOfPod(template) }];
  return quotas.filter((quota) => counted.some((pod) => quotaCounts(quota, pod))).flatMap(roomsOf);
}

function roomsOf(
  { metadata: { name }, hardLimitsCPU, usedLimitsCPU, requestsCPU, memory }: ResourceQuota,
): readonly QuotaRoom[] {
  const limitsCPU = hardLimitsCPU === undefined
    ? undefined
    : { hard: hardLimitsCPU, used: usedLimitsCPU };
  const bounds = [
    ["cpu", "request", requestsCPU],
    ["cpu", "limit", limitsCPU],
    ["memory", "request", memory?.requests],
    ["memory", "limit", memory?.limits],
  ] as const satisfies readonly (readonly [unknown, unknown, QuotaBound | undefined])[];
  return bounds.flatMap(([resource, of, bound]): QuotaRoom[] =>
    bound === undefined ? [] : [{ name, resource, of, room: bound.hard - bound.used }]
  );
}
