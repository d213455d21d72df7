/**
 * The objects of a service, and of the autoscalers of Kubernetes that may look after it.
 *
 * @module
 */
import { formatCPU } from "../../shared/quantity.ts";
import type { ScenePod } from "../../simulation/scene.ts";
import { SERVICE_IMAGE } from "./service_image.ts";

/** An object of the API. */
export type KubeObject = Readonly<Record<string, unknown>>;

/** The label that names a replica's service. */
export const SERVICE_LABEL = "bench-service";
/** Name of the only container. */
export const CONTAINER = "app";
/** Most replicas: their limits together are then what our own ceiling allows one pod. */
export const MOST_REPLICAS = 4;
/** The HPA's target, a share of the request: the middle of what people set. */
export const HPA_TARGET = 0.7;
/** Time to end the requests that were taken, s. */
const GRACE_S = 20;
const MOUNT = "/requests";

/** Where a service's list of requests lies on the node. */
export interface RequestFolder {
  /** A path of the machine; the list is `<name>.bin` in it. */
  readonly folder: string;
}

/** The PriorityClass of a priority; pods of priority 0 need none. */
export function priorityClass(value: number): KubeObject {
  return {
    apiVersion: "scheduling.k8s.io/v1",
    kind: "PriorityClass",
    metadata: { name: className(value) },
    value,
  };
}

function className(value: number): string {
  return `bench-${value}`;
}

/** A Deployment of one replica with the user's own request and limit. */
export function serviceDeployment(
  { name, request, ownLimit, priority, threads }: ScenePod,
  { folder }: RequestFolder,
): KubeObject {
  const labels = { [SERVICE_LABEL]: name };
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name },
    spec: {
      replicas: 1,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          terminationGracePeriodSeconds: GRACE_S,
          automountServiceAccountToken: false,
          ...(priority === 0 ? {} : { priorityClassName: className(priority) }),
          volumes: [{ name: "requests", hostPath: { path: folder, type: "Directory" } }],
          containers: [{
            name: CONTAINER,
            image: SERVICE_IMAGE,
            imagePullPolicy: "Never",
            args: [`${MOUNT}/${name}.bin`, String(threads)],
            resources: {
              requests: { cpu: formatCPU(request) },
              limits: { cpu: formatCPU(ownLimit) },
            },
            volumeMounts: [{ name: "requests", mountPath: MOUNT }],
          }],
        },
      },
    },
  };
}

/** A HorizontalPodAutoscaler with the defaults of autoscaling/v2. */
export function horizontalAutoscaler(name: string): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: targetOf(name),
      minReplicas: 1,
      maxReplicas: MOST_REPLICAS,
      metrics: [{
        type: "Resource",
        resource: {
          name: "cpu",
          target: { type: "Utilization", averageUtilization: Math.round(100 * HPA_TARGET) },
        },
      }],
    },
  };
}

/**
 * A VerticalPodAutoscaler with defaults for CPU, in place. Memory is left alone, and one replica is
 * enough to act: by default the updater leaves services of fewer than two as they are.
 */
export function verticalAutoscaler(name: string): KubeObject {
  return {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: { name },
    spec: {
      targetRef: targetOf(name),
      updatePolicy: { updateMode: "InPlaceOrRecreate", minReplicas: 1 },
      resourcePolicy: {
        containerPolicies: [{
          containerName: "*",
          controlledResources: ["cpu"],
          controlledValues: "RequestsAndLimits",
        }],
      },
    },
  };
}

function targetOf(name: string): KubeObject {
  return { apiVersion: "apps/v1", kind: "Deployment", name };
}
