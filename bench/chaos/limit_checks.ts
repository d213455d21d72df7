/**
 * What must hold for each version of a pod that the API server stores, whatever was killed. The same
 * promises as in `tests/faults/invariants.ts`, as far as a pod shows them.
 *
 * @module
 */
import { isMarketManager, originalsIn } from "../../shared/actuation/original_limits.ts";
import { qosClassOfPod } from "../../shared/actuation/qos.ts";
import type { Pod, QOSClass } from "../../shared/api/pod.ts";
import { objectKey } from "../../shared/control/object_key.ts";
import { BURST_FACTOR } from "../../tests/faults/invariants.ts";

/** A broken promise. */
export interface Violation {
  /** The promise, as one word. */
  readonly promise: string;
  readonly message: string;
}

/** What is known of a pod from before the product saw it. */
export interface Baseline {
  /** The user's limits, millicores by container name. */
  readonly limits: ReadonlyMap<string, number>;
  readonly qosClass: QOSClass;
  /** False for a pod that never takes part in the market. */
  readonly managed: boolean;
}

/** A version of a pod, and the one before it where that was seen. */
export interface PodChange {
  readonly pod: Pod;
  readonly previous?: Pod | undefined;
  readonly baseline: Baseline;
  /** Its namespace is opted out for so long that no limit may be raised there any more. */
  readonly optedOut: boolean;
}

/** The promises that this version breaks. */
export function limitFaults({ pod, previous, baseline, optedOut }: PodChange): Violation[] {
  const key = objectKey(pod.metadata);
  const found: Violation[] = [];
  const violate = (promise: string, message: string): void =>
    void found.push({ promise, message: `${key}: ${message}` });
  if (pod.qosClass !== baseline.qosClass || qosClassOfPod(pod) !== baseline.qosClass) {
    violate("QoS", `${pod.qosClass} (by its resources ${qosClassOfPod(pod)})`);
  }
  pod.containers.forEach(({ name, limitCPU = Infinity, requestCPU = 0, limitManagers }, index) => {
    const own = baseline.limits.get(name) ?? Infinity;
    if (limitCPU < requestCPU) violate("LimitBelowRequest", `${limitCPU}m < ${requestCPU}m`);
    if (limitCPU === own) return;
    if (!baseline.managed) violate("Unmanaged", `${limitCPU}m instead of ${own}m`);
    if (limitCPU > own * BURST_FACTOR) violate("Ceiling", `${limitCPU}m of ${own}m`);
    const before = previous?.containers[index]?.limitCPU ?? limitCPU;
    const isOfMarket = limitManagers?.some(isMarketManager) === true;
    if (optedOut && isOfMarket && limitCPU !== before) {
      violate("OptedOut", `${before}m -> ${limitCPU}m`);
    }
  });
  return found;
}

/** Containers whose limit is not the user's, and whose own limit the pod itself does not have. */
export function notCarried({ containers }: Pick<Pod, "containers">, baseline: Baseline): string[] {
  const carried = originalsIn({ containers });
  return containers.flatMap(({ name, limitCPU }) => {
    const own = baseline.limits.get(name);
    return limitCPU === own || carried.get(name) === own ? [] : [name];
  });
}
