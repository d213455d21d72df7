/**
 * What a new pod of a workload finds around it.
 *
 * @module
 */
import type { Workload, WorkloadRef } from "../../shared/api/workload.ts";
import type {
  RightsizedWorkload,
  RightsizingFacts,
} from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { largestNode } from "../../shared/rightsizing/namespace_bounds.ts";
import { rightsizedWorkload } from "../../shared/rightsizing/rightsized_workload.ts";
import type { Caches } from "../allocation/caches.ts";
import { cachedAutoscalers, cachedRules } from "./cached_rules.ts";

/** The copies that are read. */
export type CreationCaches = Pick<
  Caches,
  | "deployments"
  | "statefulSets"
  | "daemonSets"
  | "horizontalPodAutoscalers"
  | "verticalPodAutoscalers"
  | "limitRanges"
  | "resourceQuotas"
  | "nodes"
>;

/** The workload, and who else has a say in the values of its pods. */
export interface FoundSurroundings extends
  Pick<
    RightsizingFacts,
    | "autoscalers"
    | "verticalAutoscalers"
    | "ranges"
    | "quotas"
    | "largestNode"
    | "unreadable"
  > {
  readonly workload: RightsizedWorkload;
}

/** Undefined where the workload is not known, or a copy is not whole. */
export type CreationSurroundings = (
  namespace: string,
  workload: WorkloadRef,
) => FoundSurroundings | undefined;

/** Answers from the copies. */
export function createCreationSurroundings(caches: CreationCaches): CreationSurroundings {
  const bounds = [
    caches.horizontalPodAutoscalers,
    caches.verticalPodAutoscalers,
    caches.limitRanges,
    caches.resourceQuotas,
    caches.nodes,
  ];

  function workloadOf(kind: string, key: string): Workload | undefined {
    if (kind === "Deployment") return caches.deployments.get(key);
    if (kind === "StatefulSet") return caches.statefulSets.get(key);
    return kind === "DaemonSet" ? caches.daemonSets.get(key) : undefined;
  }

  return (namespace, { kind, name }) => {
    const found = workloadOf(kind, `${namespace}/${name}`);
    const workload = found && rightsizedWorkload(found);
    if (workload === undefined || !bounds.every(({ synced }) => synced)) return undefined;
    const autoscalers = cachedAutoscalers(caches, workload);
    const rules = cachedRules(caches, workload, { pods: [] });
    const largest = largestNode(caches.nodes.all());
    return {
      ...rules,
      ...(largest === undefined ? {} : { largestNode: largest }),
      ...autoscalers,
      unreadable: [...rules.unreadable, ...autoscalers.unreadable],
      workload,
    };
  };
}
