/**
 * What a source of usage is asked about a workload.
 *
 * @module
 */
import type { Pod } from "../../shared/api/pod.ts";
import type { RightsizedWorkload } from "../../shared/rightsizing/guards/rightsizing_facts.ts";
import { ownContainers } from "../../shared/rightsizing/rightsized_workload.ts";
import type { UsageQuestion } from "./ports.ts";

/** When, and among whom. */
export interface QuestionSurroundings {
  /** All pods of the workload's namespace, and which of them are its own. */
  readonly neighbours: readonly Pod[];
  readonly isOwn: (pod: Pod) => boolean;
  /** Ms since 1970. */
  readonly nowMs: number;
  readonly windowMs: number;
}

/** The question about all containers of the workload, init containers and sidecars left out. */
export function usageQuestion(
  workload: RightsizedWorkload,
  { neighbours, isOwn, nowMs, windowMs }: QuestionSurroundings,
): UsageQuestion {
  const { kind, metadata: { namespace, name, uid } } = workload;
  const pods: string[] = [];
  const otherPods: string[] = [];
  for (const pod of neighbours) {
    (isOwn(pod) ? pods : otherPods).push(pod.metadata.name);
  }
  return {
    namespace,
    workload: { kind, name, uid },
    pods,
    otherPods,
    containers: ownContainers(workload).map((one) => one.name),
    window: { fromMs: nowMs - windowMs, toMs: nowMs },
  };
}
