/**
 * The objects of the crowded scene.
 *
 * @module
 */
import { formatCPU } from "../../../shared/quantity.ts";
import { MANAGED } from "../../../shared/api/market_keys.ts";
import { priorityClassName } from "../services/priority_class.ts";
import { type KubeObject, SERVICE_LABEL, servicePodSpec } from "../services/service_pod.ts";
import type { CrowdMember, PlaceRules } from "./crowd.ts";

/** Requests worked on at once. */
const THREADS = 4;
/** No server listens there. */
const CLOSED_PORT = 9;

/** An object and the collection in its namespace that takes it. */
export interface PlacedObject {
  /** For instance `/api/v1/namespaces/batch/pods`. */
  readonly path: string;
  readonly body: KubeObject;
}

/** The ResourceQuota of a namespace, and its LimitRange where it has one. */
export function placeObjects(
  { limitsCPU, requestsCPU, container }: PlaceRules,
  namespace: string,
): PlacedObject[] {
  const core = `/api/v1/namespaces/${namespace}`;
  const quota = {
    metadata: { name: "cpu" },
    spec: { hard: { "limits.cpu": formatCPU(limitsCPU), "requests.cpu": formatCPU(requestsCPU) } },
  };
  const range = container === undefined ? [] : [{
    path: `${core}/limitranges`,
    body: {
      metadata: { name: "cpu" },
      spec: {
        limits: [{
          type: "Container",
          min: { cpu: formatCPU(container.min) },
          max: { cpu: formatCPU(container.max) },
          // Without defaults of its own it would give its maximum to pods without requests.
          default: { cpu: formatCPU(container.max) },
          defaultRequest: { cpu: formatCPU(container.min) },
        }],
      },
    },
  }];
  return [{ path: `${core}/resourcequotas`, body: quota }, ...range];
}

/** Where a member's pods are, and what they read. */
export interface Stage {
  readonly namespace: string;
  /** The folder of the lists of requests, a path of the machine. */
  readonly folder: string;
}

/** The object of a member. */
export function memberObject(member: CrowdMember, { namespace, folder }: Stage): PlacedObject {
  const { name, kind, replicas, request, limit, priority } = member;
  const labels = { [SERVICE_LABEL]: name };
  const annotations = member.optedOut ? { [MANAGED]: "false" } : {};
  const spec = servicePodSpec({
    request,
    limit,
    threads: THREADS,
    folder,
    // Each pod of a StatefulSet has a list of its own, replicas of a Deployment share one.
    list: kind === "StatefulSet" ? "$(POD_NAME).bin" : `${name}.bin`,
    priorityClassName: priorityClassName(priority),
    container: {
      env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
      ...(member.neverReady
        ? { readinessProbe: { tcpSocket: { port: CLOSED_PORT }, periodSeconds: 5 } }
        : {}),
    },
  });
  if (kind === "Pod") {
    return {
      path: `/api/v1/namespaces/${namespace}/pods`,
      body: { metadata: { name, labels, annotations }, spec },
    };
  }
  const template = { metadata: { labels, annotations }, spec };
  const base = { replicas, selector: { matchLabels: labels }, template };
  return {
    path: `/apis/apps/v1/namespaces/${namespace}/${kind.toLowerCase()}s`,
    body: {
      metadata: { name },
      spec: kind === "Deployment" ? base : {
        ...base,
        // It governs names that are never looked up.
        serviceName: name,
        podManagementPolicy: "Parallel",
      },
    },
  };
}
