/**
 * What containers have now. Pure.
 *
 * @module
 */
import type { Pod, PodContainer } from "../../../shared/api/pod.ts";
import type { PodAllocation } from "../../../shared/api/pod_allocation.ts";
import { countableCPU } from "../../../shared/quantity.ts";
import { amountsOfResources } from "../../../shared/rightsizing/workload_record.ts";
import { recordedLimitsOf } from "../restore/restore_plan.ts";
import type { PodAmounts } from "./advice_view.ts";

/** Where pods are looked at. */
export interface PodFinding {
  readonly pods: readonly Pod[];
  readonly allocationByUID: ReadonlyMap<string, PodAllocation>;
}

/** What pods have of the container, those that have the same together, most pods first. */
export function podAmounts(
  name: string,
  { pods, allocationByUID }: PodFinding,
): readonly PodAmounts[] {
  const found = pods.flatMap((pod) => {
    const container = pod.containers.find((one) => one.name === name);
    if (container === undefined) return [];
    return [amountsOfResources(asOwn(container, allocationByUID.get(pod.metadata.uid)))];
  });
  const groups = Map.groupBy(found, (one) => JSON.stringify(one));
  return [...groups.values()].map((same) => ({ count: same.length, ...same[0] }))
    .toSorted((a, b) => b.count - a.count);
}

/**
 * In the market `limits.cpu` is the market's, of a Guaranteed pod the request too: the own ones count.
 */
function asOwn(container: PodContainer, allocation: PodAllocation | undefined): PodContainer {
  const limit = recordedLimitsOf(allocation)?.get(container.name);
  const text = allocation?.status?.originalRequests?.find(({ name }) => name === container.name)
    ?.cpu;
  const request = text === undefined ? undefined : countableCPU(text);
  return {
    ...container,
    requests: { ...container.requests, ...(request === undefined ? {} : { cpu: request }) },
    limits: { ...container.limits, ...(limit === undefined ? {} : { cpu: limit }) },
  };
}
