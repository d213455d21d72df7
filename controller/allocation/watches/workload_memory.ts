/**
 * Which changes of a workload concern its pods.
 *
 * @module
 */
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { createChangeMemory } from "./change_memory.ts";

/**
 * See {@linkcode createChangeMemory}: it rolls out or no longer, or says something else. Its status
 * changes with each pod that comes, goes, or becomes Ready.
 */
export function createWorkloadMemory(
  copy: Pick<Informer<Workload>, "all" | "get">,
): (key: string) => boolean {
  return createChangeMemory(copy, wordsOf);
}

function wordsOf({ metadata: { labels, annotations }, rollout, unreadable }: Workload): string {
  return JSON.stringify([isRollingOut(rollout), labels, annotations, unreadable]);
}
