/**
 * The HorizontalPodAutoscaler of a service.
 *
 * @module
 */
import type { KubeObject } from "./service_pod.ts";

/** How it scales. */
export interface AutoscalerOptions {
  /** Most replicas. */
  readonly most: number;
  /** CPU used, as a share of the request. */
  readonly target: number;
  /** How long it looks back before it scales down, s. @default {300, that of autoscaling/v2} */
  readonly scaleDownAfterS?: number;
}

/** Scales the Deployment of this name on CPU; all else as autoscaling/v2 has it by default. */
export function horizontalAutoscaler(
  name: string,
  { most, target, scaleDownAfterS }: AutoscalerOptions,
): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: most,
      metrics: [{
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: Math.round(100 * target) },
        },
      }],
      ...(scaleDownAfterS === undefined
        ? {}
        : { behavior: { scaleDown: { stabilizationWindowSeconds: scaleDownAfterS } } }),
    },
  };
}
