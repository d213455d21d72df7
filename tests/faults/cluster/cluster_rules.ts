/**
 * What bounds limits in the simulated cluster, beside the pods' own: a quota, a LimitRange and a
 * HorizontalPodAutoscaler.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import type { SimulatedAPI } from "../../../lab/simulation/api/simulated_api.ts";
import { BURST_FACTOR } from "./cluster_load.ts";
import { NODE_CEILING } from "./cluster_node.ts";

/** The quota of a namespace; limits.cpu in millicores: less than the ceilings of its pods together. */
export const QUOTA = { namespace: "batch", name: "cpu", hard: 3000 } as const;
/** Namespaces with a LimitRange: the largest limit, millicores. */
const RANGES: Readonly<Record<string, number>> = { guest: 1000 };
/** An HPA at 150 % of the requests, 150m, keeps limits of its pods above 1.2 × 225m. */
const SCALED = { namespace: "shop", workload: "web", utilization: 1.5, floor: 270 } as const;

const NO_VERSION = { uid: "", resourceVersion: "" };

/** Puts them into the cluster, and counts what pods use of the quota. */
export function startRules({ store }: SimulatedAPI): void {
  const { LimitRange, ResourceQuota, HorizontalPodAutoscaler, Pod: pods } = store.tables;
  for (const [namespace, max] of Object.entries(RANGES)) {
    const metadata = { namespace, name: "cpu", ...NO_VERSION };
    LimitRange.seed({ metadata, items: [{ type: "Container", max }] });
  }
  const { namespace, workload: name, utilization } = SCALED;
  HorizontalPodAutoscaler.seed({
    metadata: { namespace, name, ...NO_VERSION, annotations: {} },
    target: { kind: "Deployment", name },
    cpuTargets: [{ utilization }],
    stabilizationMs: 300_000,
  });
  const { hard, ...ref } = QUOTA;
  const metadata = { ...ref, ...NO_VERSION };
  ResourceQuota.seed({ metadata, hardLimitsCPU: hard, usedLimitsCPU: 0, scopes: [] });
  let position = 0;
  store.onChange(() => {
    let isChanged = false;
    for (let entry = pods.log.at(position); entry; entry = pods.log.at(++position)) {
      isChanged ||= entry.object.metadata.namespace === QUOTA.namespace;
    }
    if (!isChanged) return;
    const usedLimitsCPU = quotaUsed(store);
    ResourceQuota.modify(`${QUOTA.namespace}/${QUOTA.name}`, (one) => ({ ...one, usedLimitsCPU }));
  });
}

/** Limits of the pods that the quota counts, millicores. */
export function quotaUsed({ tables }: SimulatedAPI["store"]): number {
  return tables.Pod.all()
    .filter(({ metadata }) => metadata.namespace === QUOTA.namespace)
    .flatMap(({ containers }) => containers)
    .reduce((sum, { limits: { cpu: limitCPU = 0 } }) => sum + limitCPU, 0);
}

/** The market lowers no limit of the pod below this, millicores. */
export function floorOf({ metadata: { namespace, name } }: Pod): number {
  const isScaled = namespace === SCALED.namespace && name.startsWith(`${SCALED.workload}-`);
  return isScaled ? SCALED.floor : 0;
}

/** The ceiling of a container with this limit of its user, but for the quota; millicores. */
export function ceilingOf({ metadata: { namespace } }: Pod, own: number): number {
  return Math.min(own * BURST_FACTOR, NODE_CEILING, RANGES[namespace] ?? Infinity);
}
