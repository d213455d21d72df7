/**
 * The objects of a service, and of the autoscalers of Kubernetes that may look after it.
 *
 * @module
 */
import type { ScenePod } from "../../simulation/scene.ts";
import { horizontalAutoscaler } from "../services/horizontal_autoscaler.ts";
import { priorityClassName } from "../services/priority_class.ts";
import { type KubeObject, SERVICE_LABEL, servicePodSpec } from "../services/service_pod.ts";

/** Most replicas: their limits together are then what our own ceiling allows one pod. */
const MOST_REPLICAS = 4;
/** The HPA's target, a share of the request: the middle of what people set. */
const HPA_TARGET = 0.7;

/** Where a service's list of requests lies on the node. */
export interface RequestFolder {
  /** A path of the machine; the list is `<name>.bin` in it. */
  readonly folder: string;
}

/** A Deployment of one replica with the user's own request and limit. */
export function serviceDeployment(
  { name, request, originalLimit, priority, threads }: ScenePod,
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
        spec: servicePodSpec({
          request,
          limit: originalLimit,
          threads,
          folder,
          list: `${name}.bin`,
          ...(priority === 0 ? {} : { priorityClassName: priorityClassName(priority) }),
        }),
      },
    },
  };
}

/** A HorizontalPodAutoscaler with the defaults of autoscaling/v2. */
export function serviceAutoscaler(name: string): KubeObject {
  return horizontalAutoscaler(name, { most: MOST_REPLICAS, target: HPA_TARGET });
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
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
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
