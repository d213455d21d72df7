/**
 * Workloads that ask for placement, as their users write them for Spotalis.
 *
 * @module
 */
import { sceneBounds } from "../nodes/simulated_node.ts";

/** What a workload is to be. */
export interface PlacedWorkloadOptions {
  /** @default {"Deployment"} */
  readonly kind?: "Deployment" | "StatefulSet";
  /** Its pods have it as their label `app`. */
  readonly name: string;
  readonly namespace: string;
  /** The scene with the nodes of its pods. */
  readonly scene: string;
  readonly replicas: number;
  /** `spotalis.io/spot-percentage`, as it is written. @default {none, and nothing is enabled} */
  readonly share?: string;
  /** `spotalis.io/min-on-demand`. @default {none} */
  readonly floor?: number;
  /** Where `spotalis.io/enabled` stands. @default {"label"} */
  readonly enabledBy?: "label" | "annotation";
  /** More annotations. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** More of its spec. */
  readonly spec?: Readonly<Record<string, unknown>>;
}

/** The object. */
export function placedWorkload(
  {
    kind = "Deployment",
    name,
    namespace,
    scene,
    replicas,
    share,
    floor,
    enabledBy = "label",
    annotations = {},
    spec = {},
  }: PlacedWorkloadOptions,
): Record<string, unknown> {
  const enabled = share === undefined ? {} : { "spotalis.io/enabled": "true" };
  return {
    apiVersion: "apps/v1",
    kind,
    metadata: {
      name,
      namespace,
      labels: enabledBy === "label" ? enabled : {},
      annotations: {
        ...(enabledBy === "annotation" ? enabled : {}),
        ...(share === undefined ? {} : { "spotalis.io/spot-percentage": share }),
        ...(floor === undefined ? {} : { "spotalis.io/min-on-demand": String(floor) }),
        ...annotations,
      },
    },
    spec: {
      replicas,
      selector: { matchLabels: { app: name } },
      ...(kind === "StatefulSet" ? { serviceName: name } : {}),
      template: {
        metadata: { labels: { app: name } },
        spec: scenePodSpec(scene),
      },
      ...spec,
    },
  };
}

/** The spec of a pod that runs on a scene's nodes; its container never starts. */
export function scenePodSpec(scene: string): Record<string, unknown> {
  return {
    ...sceneBounds(scene),
    automountServiceAccountToken: false,
    containers: [{
      name: "app",
      image: "busybox:stable",
      resources: { requests: { cpu: "10m", memory: "8Mi" } },
    }],
  };
}
