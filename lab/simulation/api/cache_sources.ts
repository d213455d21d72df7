/**
 * The simulated API server as the controller's caches take it.
 *
 * @module
 */
import type { CacheSources } from "../../../controller/caches.ts";
import type { SimulatedAPI } from "./simulated_api.ts";

/** Lists and watches of every kind that the controller keeps a copy of. */
export function cacheSources(api: Pick<SimulatedAPI, "listWatch">): CacheSources {
  return {
    pods: api.listWatch("Pod"),
    namespaces: api.listWatch("Namespace"),
    nodes: api.listWatch("Node"),
    allocations: api.listWatch("PodAllocation"),
    leases: api.listWatch("Lease"),
    limitRanges: api.listWatch("LimitRange"),
    resourceQuotas: api.listWatch("ResourceQuota"),
    deployments: api.listWatch("Deployment"),
    statefulSets: api.listWatch("StatefulSet"),
    daemonSets: api.listWatch("DaemonSet"),
    horizontalPodAutoscalers: api.listWatch("HorizontalPodAutoscaler"),
    verticalPodAutoscalers: api.listWatch("VerticalPodAutoscaler"),
  };
}
