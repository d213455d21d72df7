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

/** The room that a quota leaves below each of its bounds of CPU and memory. */
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
 * The guards' input from the namespace's LimitRanges and quotas. A change must fit all quotas that count one
 * of the pods, or a pod of the template. Quotas that can't be read bound nothing; LimitRanges that can't be
 * read are in `unreadable`, by which a guard holds.
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
 * The largest allocatable CPU and memory of any node: a pod that requests more stays Pending. A node that does
 * not report one may have any amount; undefined without nodes. Nodes count even if the pod's selectors or
 * taints exclude them.
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
