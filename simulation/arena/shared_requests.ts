/**
 * A scene with requests that are drawn once, for all algorithms that are played on it.
 *
 * @module
 */
import { readRequestLog, type RequestLog } from "../oracle/request_log.ts";
import type { Scene } from "../scene.ts";
import type { Workload } from "../workload.ts";

/**
 * The same scene, played several times at less cost: drawing requests takes about as long as serving
 * them. Nothing else changes. Never-ending work is left as it is.
 */
export function shareRequests(scene: Scene): Scene {
  return {
    ...scene,
    pods: scene.pods.map((pod) => {
      const original = pod.workload();
      if (original.nextCost === Infinity) return pod;
      const coresAt = (ms: number) => original.coresAt(ms);
      const log = readRequestLog(original, scene.minutes * 60_000);
      return { ...pod, workload: () => replay(log, coresAt) };
    }),
  };
}

function replay({ atMs, costMs }: RequestLog, coresAt: Workload["coresAt"]): Workload {
  let index = 0;
  return {
    nextAt: atMs[0] ?? Infinity,
    nextCost: costMs[0] ?? 0,
    next() {
      index++;
      this.nextAt = atMs[index] ?? Infinity;
      this.nextCost = costMs[index] ?? 0;
    },
    coresAt,
  };
}
