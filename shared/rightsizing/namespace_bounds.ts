/**
 * Bounds of a workload's values: LimitRanges and ResourceQuotas of its namespace, and the largest node.
 *
 * @module
 */
import { resourceRangesOf } from "../resize/checks/limit_range.ts";
import { qosClassOfPod } from "../resize/inputs/qos.ts";
import { RESOURCE_NAMES, RESOURCE_SIDES } from "../resize/inputs/resources.ts";
import { quotaCounts, type QuotaRoom, type ScopedPod } from "../resize/checks/resource_quota.ts";
import { type LimitRange, type ResourceQuota, unreadableMessages } from "../api/namespace.ts";
import type { Node } from "../api/node.ts";
import { defined } from "../defined.ts";
import type { PodTemplate } from "../api/workload.ts";
import type { LargestNode, RightsizingSnapshot } from "./guards/rightsizing_snapshot.ts";

/** The room in a quota for CPU and memory, each bound apart. */
function roomsOf(
  { metadata: { name }, bounds }: ResourceQuota,
): readonly QuotaRoom[] {
  return RESOURCE_NAMES.flatMap((resource) =>
    RESOURCE_SIDES.flatMap((side): readonly QuotaRoom[] => {
      const bound = bounds[`${side}.${resource}`];
      return bound === undefined ? [] : [{ name, resource, side, room: bound.hard - bound.used }];
    })
  );
}

/**
 * The guards' input from the namespace's LimitRanges and quotas. A change must fit all quotas that
 * count any of the pods, or such as the template makes; those that can't be read bound nothing here. A
 * LimitRange that can't be read is named: it must not pass for one that bounds nothing.
 */
export function namespaceRules(
  { limitRanges, quotas }: {
    readonly limitRanges: readonly LimitRange[];
    readonly quotas: readonly ResourceQuota[];
  },
  { pods, template }: { readonly pods: readonly ScopedPod[]; readonly template: PodTemplate },
): Pick<RightsizingSnapshot, "ranges" | "quotas" | "unreadable"> {
  const counted = [...pods, { ...template, qosClass: qosClassOfPod(template) }];
  return defined({
    ranges: resourceRangesOf(limitRanges),
    quotas: quotas.filter((quota) => counted.some((pod) => quotaCounts(quota, pod)))
      .flatMap(roomsOf),
    unreadable: unreadableMessages("LimitRange", limitRanges),
  });
}

/**
 * The most of each resource that any of the nodes has: a pod that requests more waits for a node that
 * there is not. A node without a figure may have any amount; undefined without nodes. Which of them
 * the pod could go to is not asked.
 */
export function largestNode(
  nodes: Iterable<Pick<Node, "allocatableCPU" | "allocatableMemory">>,
): LargestNode | undefined {
  const all = [...nodes];
  return all.length === 0 ? undefined : {
    allocatableCPU: Math.max(...all.map((one) => one.allocatableCPU || Infinity)),
    allocatableMemory: Math.max(...all.map((one) => one.allocatableMemory || Infinity)),
  };
}
