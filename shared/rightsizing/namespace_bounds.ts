/**
 * What bounds the values of a workload: LimitRanges and ResourceQuotas of its namespace, and the largest node.
 *
 * @module
 */
import { resourceRangesOf } from "../resize/checks/limit_range.ts";
import { qosClassOfPod } from "../resize/inputs/qos.ts";
import { quotaCounts, type QuotaRoom, type ScopedPod } from "../resize/checks/resource_quota.ts";
import {
  type LimitRange,
  type QuotaBound,
  type ResourceQuota,
  unreadableMessages,
} from "../api/namespace.ts";
import type { Node } from "../api/node.ts";
import type { PodTemplate } from "../api/workload.ts";
import type { LargestNode, RightsizingFacts } from "./guards/rightsizing_facts.ts";

/** The pods that there are, and what new ones are made of. */
export interface CountedWorkload {
  readonly pods: readonly ScopedPod[];
  readonly template: PodTemplate;
}

/**
 * The rooms of all quotas that count any of the pods, or such as are to come: a change must fit them
 * all. Quotas that can't be read bound nothing here: `namespaceRules()` names them.
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
    ["cpu", "requests", requestsCPU],
    ["cpu", "limits", limitsCPU],
    ["memory", "requests", memory?.requests],
    ["memory", "limits", memory?.limits],
  ] as const satisfies readonly (readonly [unknown, unknown, QuotaBound | undefined])[];
  return bounds.flatMap(([resource, of, bound]): QuotaRoom[] =>
    bound === undefined ? [] : [{ name, resource, of, room: bound.hard - bound.used }]
  );
}

/** What bounds a namespace. */
export interface NamespaceBounds {
  readonly limitRanges: readonly LimitRange[];
  readonly quotas: readonly ResourceQuota[];
}

/**
 * What the guards ask of the namespace's LimitRanges and quotas, with a sentence for each LimitRange that
 * can't be read: it must not pass for one that bounds nothing.
 */
export function namespaceRules(
  { limitRanges, quotas }: NamespaceBounds,
  counted: CountedWorkload,
): Pick<RightsizingFacts, "ranges" | "quotas" | "unreadable"> {
  const ranges = resourceRangesOf(limitRanges);
  return {
    ...(ranges === undefined ? {} : { ranges }),
    quotas: quotaRoomsOf(quotas, counted),
    unreadable: unreadableMessages("LimitRange", limitRanges),
  };
}

/**
 * The most of each resource that any of the nodes has: a pod that requests more waits for a node that
 * there is not. A node without a figure may have any amount; undefined without nodes. Which of them
 * the pod could go to is not asked.
 */
export function largestNode(
  nodes: Iterable<Pick<Node, "allocatableCPU" | "allocatableMemory">>,
): LargestNode | undefined {
  let largest: LargestNode | undefined;
  for (const { allocatableCPU, allocatableMemory } of nodes) {
    largest = {
      allocatableCPU: Math.max(largest?.allocatableCPU ?? 0, allocatableCPU || Infinity),
      allocatableMemory: Math.max(largest?.allocatableMemory ?? 0, allocatableMemory || Infinity),
    };
  }
  return largest;
}
