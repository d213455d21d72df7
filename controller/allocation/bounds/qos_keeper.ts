/**
 * Which container keeps a Burstable pod from turning Guaranteed.
 *
 * @module
 */
import type { Pod } from "../../../shared/api/pod.ts";
import { LEAST_CPU } from "../../../shared/market/clearing_round.ts";
import { movesRequest, qosClassOf } from "../../../shared/resize/inputs/qos.ts";

/** A pod and its original limits. */
export interface QOSCase {
  readonly pod: Pod;
  /** Millicores by container name. */
  readonly originalLimits: ReadonlyMap<string, number>;
}

/**
 * Where all containers have memory request = limit and CPU limits, the market could make request =
 * limit everywhere, and the pod would turn Guaranteed, which the API refuses. One container with
 * an original limit above its request then keeps it there. Returns its name; undefined when there is no
 * such danger, as in a pod that is Guaranteed already; null when no container can do it.
 */
export function qosKeeper({ pod, originalLimits }: QOSCase): string | undefined | null {
  // Pod-level resources decide alone, and the market leaves them as they are.
  if (pod.podLevel !== undefined || movesRequest(pod)) return undefined;
  const all = [...pod.containers, ...pod.initContainers];
  const atRequest = all.map((container) => ({
    ...container,
    limits: { ...container.limits, cpu: container.requests.cpu ?? 0 },
  }));
  const lowered = atRequest.map((container, index) =>
    originalLimits.has(container.name) ? container : all[index] ?? container
  );
  if (qosClassOf(lowered) !== "Guaranteed") return undefined;
  const able = pod.containers.find(({ name, requests: { cpu: requestCPU = 0 } }) =>
    (originalLimits.get(name) ?? 0) >= requestCPU + LEAST_CPU
  );
  return able?.name ?? null;
}
