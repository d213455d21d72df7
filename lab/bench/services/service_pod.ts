/**
 * The pod of a service: one container that works through a list of requests.
 *
 * @module
 */
import { formatCPU } from "../../../shared/quantity.ts";
import { SERVICE_IMAGE } from "./service_image.ts";

/** An object of the API. */
export type KubeObject = Readonly<Record<string, unknown>>;

/** The label that names a replica's service. */
export const SERVICE_LABEL = "bench-service";
/** Name of the only container. */
export const CONTAINER = "app";
/** Time to end the requests that were taken, s. */
const GRACE_S = 20;
const MOUNT = "/requests";

/** What a service asks for, and where its list of requests is. CPU in millicores. */
export interface ServicePod {
  readonly request: number;
  readonly limit: number;
  /** Requests worked on at once. */
  readonly threads: number;
  /** A path of the machine. */
  readonly folder: string;
  /** Name of the list in it; `$(POD_NAME)` stands for the pod's. */
  readonly list: string;
  /** @default {none} */
  readonly priorityClassName?: string;
  /** What becomes of the container beside all this, for instance a probe. */
  readonly container?: KubeObject;
}

/** The pod's spec. */
export function servicePodSpec(pod: ServicePod): KubeObject {
  const { request, limit, threads, folder, list, priorityClassName, container = {} } = pod;
  return {
    terminationGracePeriodSeconds: GRACE_S,
    automountServiceAccountToken: false,
    ...(priorityClassName === undefined ? {} : { priorityClassName }),
    volumes: [{ name: "requests", hostPath: { path: folder, type: "Directory" } }],
    containers: [{
      name: CONTAINER,
      image: SERVICE_IMAGE,
      imagePullPolicy: "Never",
      args: [`${MOUNT}/${list}`, String(threads)],
      resources: {
        requests: { cpu: formatCPU(request) },
        limits: { cpu: formatCPU(limit) },
      },
      volumeMounts: [{ name: "requests", mountPath: MOUNT }],
      ...container,
    }],
  };
}
