/**
 * Which changes of a workload concern its pods.
 *
 * @module
 */
import { isRollingOut, type Workload } from "../../../shared/api/workload.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import { objectKey } from "../../../shared/control/object_key.ts";

/**
 * The function says whether the workload under this key is for its pods another one than when it was
 * last asked: it rolls out or no longer, or says something else. Its status changes with each pod that
 * comes, goes, or becomes Ready.
 */
export function createWorkloadMemory(
  copy: Pick<Informer<Workload>, "all" | "get">,
): (key: string) => boolean {
  const known = new Map<string, string>();
  for (const workload of copy.all()) known.set(objectKey(workload.metadata), wordsOf(workload));
  return (key) => {
    const workload = copy.get(key);
    const before = known.get(key);
    if (workload === undefined) return known.delete(key);
    const now = wordsOf(workload);
    known.set(key, now);
    return now !== before;
  };
}

function wordsOf({ metadata: { labels, annotations }, rollout, unreadable }: Workload): string {
  return JSON.stringify([isRollingOut(rollout), labels, annotations, unreadable]);
}
