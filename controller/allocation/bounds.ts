/**
 * The API's half of the bids: floor, ceiling and weight of each container that has a CPU limit.
 *
 * @module
 */
import { qosClassOf } from "../../shared/actuation/qos.ts";
import type { Namespace } from "../../shared/api/namespace.ts";
import type { Pod, PodContainer } from "../../shared/api/pod.ts";
import type { Bounds, ContainerBounds } from "../../shared/api/pod_allocation.ts";
import { overridesOf } from "./overrides.ts";
import { clampMultiplier, priorityMultiplier } from "./priority_multiplier.ts";

/** What bounds are made from. */
export interface BoundsInput {
  readonly pod: Pod;
  readonly namespace: Namespace | undefined;
  /** The user's own limits, millicores by container name. */
  readonly ownLimits: ReadonlyMap<string, number>;
  /** Allocatable CPU of the pod's node, millicores; absent while the node is not known. */
  readonly nodeCPU: number | undefined;
  readonly burstFactor: number;
}

/** Every pod may keep this much, or its own limit if that is less. Millicores. */
const LEAST_LIMIT = 100;
/** The smallest quota that the kubelet sets. Millicores. */
const LEAST_QUOTA = 10;
/** One container may have at most this share of a node. */
const NODE_SHARE = 0.9;

/** Bounds without their revision. */
export type BoundsDraft = Omit<Bounds, "revision">;

/** The bounds of a pod as the API's state has them now. */
export function boundsOf(input: BoundsInput): BoundsDraft {
  const { pod, namespace, ownLimits } = input;
  const overrides = overridesOf(pod, namespace);
  const multiplier = overrides.priorityMultiplier ?? priorityMultiplier(pod.priority);
  const keeper = qosKeeper(input);
  const reasons = new Set<string>();
  const containers = pod.containers.flatMap((container): ContainerBounds[] => {
    const own = ownLimits.get(container.name);
    const { containerID, requestCPU = 0, limitCPU } = container;
    if (own === undefined || containerID === undefined || limitCPU === undefined) return [];
    const spare = container.name === keeper ? LEAST_QUOTA : 0;
    const floor = Math.max(requestCPU + spare, Math.min(LEAST_LIMIT, own), LEAST_QUOTA);
    const { ceiling, reason } = ceilingOf(container, own, { input, floor });
    reasons.add(reason);
    const bounds = {
      name: container.name,
      containerID,
      floor: Math.ceil(floor),
      ceiling: Math.max(Math.ceil(floor), Math.floor(ceiling)),
      weight: Math.max(1, requestCPU) * clampMultiplier(multiplier),
    };
    if (keeper !== null) return [bounds];
    reasons.add("QoSWouldChange");
    return [{ ...bounds, held: "both" }];
  });
  return { reason: [...reasons].join(", "), containers };
}

/** The lowest of the ceilings, and which one it was. */
function ceilingOf(
  _container: PodContainer,
  own: number,
  { input, floor }: { input: BoundsInput; floor: number },
): { ceiling: number; reason: string } {
  const { pod, namespace, nodeCPU = Infinity } = input;
  const { maxCPU, burstFactor = input.burstFactor } = overridesOf(pod, namespace);
  const burst = own * burstFactor;
  const candidates: { ceiling: number; reason: string }[] = [
    maxCPU === undefined
      ? { ceiling: burst, reason: `own limit × ${burstFactor}` }
      : { ceiling: maxCPU, reason: "mbcas.io/max-cpu" },
    { ceiling: nodeCPU * NODE_SHARE, reason: "90 % of the node" },
  ];
  const lowest = candidates.reduce((a, b) => b.ceiling < a.ceiling ? b : a);
  return lowest.ceiling >= floor
    ? lowest
    : { ceiling: floor, reason: `floor (${lowest.reason} would be lower)` };
}

/**
 * Where all containers have memory request = limit and CPU limits, the market could make request =
 * limit everywhere, and the pod would turn Guaranteed, which the API refuses. One container whose
 * own limit allows it then keeps its limit above its request. Returns its name, undefined when
 * there is no such danger, null when no container can do it.
 */
function qosKeeper({ pod, ownLimits }: BoundsInput): string | undefined | null {
  const all = [...pod.containers, ...pod.initContainers];
  const atRequest = all.map((container) => ({ ...container, limitCPU: container.requestCPU ?? 0 }));
  const lowered = atRequest.map((container, index) =>
    ownLimits.has(container.name) ? container : all[index] ?? container
  );
  if (qosClassOf(lowered) !== "Guaranteed") return undefined;
  const able = pod.containers.find(({ name, requestCPU = 0 }) =>
    (ownLimits.get(name) ?? 0) >= requestCPU + LEAST_QUOTA
  );
  return able?.name ?? null;
}
