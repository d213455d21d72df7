/**
 * The crowded scene: three namespaces with quotas, and their pods.
 *
 * The node has two CPUs, and the cluster's own programs need about a quarter of them. All requests fit,
 * with every replica that the autoscaler may ask for. So do all original limits into their quotas, and
 * a pod more of the largest, for which the market keeps room; what is then left is less than the market
 * would like to raise, so that each quota is met. Together original limits are less than the node has,
 * so that there is something to raise them with.
 *
 * @module
 */

/** A namespace of the scene by the part it plays. */
export type Place = "shop" | "batch" | "lab";

/** What a namespace allows. CPU in millicores. */
export interface PlaceRules {
  readonly name: Place;
  /** Of all its pods together. */
  readonly limitsCPU: number;
  readonly requestsCPU: number;
  /** Of each container, by a LimitRange. */
  readonly container?: { readonly min: number; readonly max: number };
}

/** A workload of the scene. CPU in millicores. */
export interface CrowdMember {
  readonly name: string;
  readonly place: Place;
  readonly kind: "Deployment" | "StatefulSet" | "Pod";
  readonly replicas: number;
  readonly request: number;
  readonly limit: number;
  /** `spec.priority`, by a PriorityClass. */
  readonly priority: number;
  /** Most replicas that a HorizontalPodAutoscaler may ask for; absent without one. */
  readonly mostReplicas?: number;
  /** By its annotation the market keeps its hands off it. */
  readonly optedOut?: boolean;
  /** Its readiness probe never succeeds. */
  readonly neverReady?: boolean;
}

/** CPUs of the node. */
export const CORES = 2;

/** The namespaces. */
export const PLACES: readonly PlaceRules[] = [
  { name: "shop", limitsCPU: 1000, requestsCPU: 400 },
  { name: "batch", limitsCPU: 750, requestsCPU: 300 },
  // The maximum is less than a container's share of the quota, or the LimitRange would bind nothing.
  { name: "lab", limitsCPU: 820, requestsCPU: 300, container: { min: 30, max: 220 } },
];

/** The autoscaler's target, a share of the request. */
export const TARGET = 0.7;
/** It scales down after so long without a reason for more, s: waves are shorter than its default. */
export const SCALE_DOWN_AFTER_S = 60;

/** The service that is scaled. */
export const SCALED = "web";
/** The pod that is opted out. */
export const OPTED_OUT = "aside";
/** The pod that is never Ready. */
export const NEVER_READY = "unready";

/** What runs. */
export const CROWD: readonly CrowdMember[] = [
  {
    ...member("shop", SCALED, { kind: "Deployment", request: 60, limit: 120, priority: 4000 }),
    mostReplicas: 5,
  },
  member("shop", "cart", { kind: "Deployment", request: 60, limit: 120, priority: 4000 }),
  {
    ...member("batch", "worker", { kind: "StatefulSet", request: 30, limit: 60, priority: 1000 }),
    replicas: 8,
  },
  {
    ...member("lab", OPTED_OUT, { kind: "Pod", request: 100, limit: 200, priority: 1000 }),
    optedOut: true,
  },
  {
    ...member("lab", NEVER_READY, { kind: "Pod", request: 50, limit: 200, priority: 1000 }),
    neverReady: true,
  },
  member("lab", "report", { kind: "Deployment", request: 60, limit: 150, priority: 4000 }),
];

/** What is watched by itself: each worker, and each other workload with all its replicas. */
export interface Performer {
  readonly name: string;
  readonly member: CrowdMember;
}

/** All of them; a StatefulSet's pods have names of their own. */
export const PERFORMERS: readonly Performer[] = CROWD.flatMap((member): Performer[] =>
  member.kind === "StatefulSet"
    ? Array.from(
      { length: member.replicas },
      (_, index) => ({ name: `${member.name}-${index}`, member }),
    )
    : [{ name: member.name, member }]
);

/** Their priorities, each once. */
export const PRIORITIES: readonly number[] = [...new Set(CROWD.map(({ priority }) => priority))];

function member(
  place: Place,
  name: string,
  rest: Pick<CrowdMember, "kind" | "request" | "limit" | "priority">,
): CrowdMember {
  return { place, name, replicas: 1, ...rest };
}
