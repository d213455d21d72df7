/**
 * The objects of the apps and of their neighbour.
 *
 * @module
 */
import { formatCPU } from "../../../shared/quantity.ts";
import { BUSYBOX_IMAGE } from "../../../tests/cluster/harness/install/image_archive.ts";
import { type App, CONTAINER, LIMIT, NEIGHBOUR, REQUEST, SERVICE_LABEL } from "./apps.ts";
import { imageOf } from "./app_images.ts";

/** An object of the API. */
export type KubeObject = Readonly<Record<string, unknown>>;

/** Name of the neighbour's Deployment. */
export const NEIGHBOUR_NAME = "neighbour";
/** The file that starts the neighbour's loops, in its folder. */
export const START_FILE = "start";

/** Four busy loops take all CPUs of this node. */
const LOOPS = `until [ -e /start/${START_FILE} ]; do sleep 0.2; done
for loop in 1 2 3 4; do (while :; do :; done) & done
wait`;

/** Whether containers have CPU limits. */
export interface Limited {
  readonly limited: boolean;
}

/** A Deployment of one replica. */
export function appDeployment({ name, port }: App, { limited }: Limited): KubeObject {
  return deployment(name, {
    containers: [{
      name: CONTAINER,
      image: imageOf(name),
      imagePullPolicy: "Never",
      resources: resources(REQUEST, limited ? LIMIT : undefined),
      readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
    }],
  });
}

/** The Service that its requests are sent to. */
export function appService({ name, port }: App): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name },
    spec: { selector: { [SERVICE_LABEL]: name }, ports: [{ port }] },
  };
}

/** An HPA as people set it; its limits together are what the product allows one pod. */
export function appAutoscaler({ name }: App): KubeObject {
  return {
    apiVersion: "autoscaling/v2",
    kind: "HorizontalPodAutoscaler",
    metadata: { name },
    spec: {
      scaleTargetRef: { apiVersion: "apps/v1", kind: "Deployment", name },
      minReplicas: 1,
      maxReplicas: 4,
      metrics: [{
        type: "Resource",
        resource: { name: "cpu", target: { type: "Utilization", averageUtilization: 70 } },
      }],
    },
  };
}

/** A pod that does nothing until the file {@linkcode START_FILE} is in `folder`, a path of the machine. */
export function neighbourDeployment(
  { folder, limited }: Limited & { readonly folder: string },
): KubeObject {
  return deployment(NEIGHBOUR_NAME, {
    volumes: [{ name: "start", hostPath: { path: folder, type: "Directory" } }],
    containers: [{
      name: CONTAINER,
      image: BUSYBOX_IMAGE,
      imagePullPolicy: "Never",
      command: ["sh", "-c", LOOPS],
      resources: resources(NEIGHBOUR, limited ? NEIGHBOUR : undefined),
      volumeMounts: [{ name: "start", mountPath: "/start" }],
    }],
  });
}

function deployment(name: string, spec: KubeObject): KubeObject {
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
        spec: { terminationGracePeriodSeconds: 5, automountServiceAccountToken: false, ...spec },
      },
    },
  };
}

function resources(request: number, limit: number | undefined): KubeObject {
  return {
    requests: { cpu: formatCPU(request) },
    ...(limit === undefined ? {} : { limits: { cpu: formatCPU(limit) } }),
  };
}
