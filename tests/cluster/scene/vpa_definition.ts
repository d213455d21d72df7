/**
 * The kind VerticalPodAutoscaler on a server that has none, and objects of it.
 *
 * @module
 */
import { orGone } from "./real_node.ts";
import type { KubeConnection } from "../../../adapters/kube/client/connection.ts";
import { until } from "./until.ts";

const CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const NAME = "verticalpodautoscalers.autoscaling.k8s.io";

/** The modes that VPA 1.8.1 knows. */
export const VPA_MODES = [
  "Off",
  "Initial",
  "Recreate",
  "InPlaceOrRecreate",
  "InPlace",
  "Auto",
] as const;

const text = { type: "string" };
const targetRef = {
  type: "object",
  required: ["kind", "name"],
  properties: { apiVersion: text, kind: text, name: text },
};
const updatePolicy = {
  type: "object",
  properties: {
    minReplicas: { type: "integer", format: "int32" },
    updateMode: { type: "string", enum: VPA_MODES },
  },
};

/**
 * Version v1 of VPA's own definition, cut to what its objects need in order to name the pods with
 * resources they set. Source: k8s.io/autoscaler/vertical-pod-autoscaler v1.8.1,
 * deploy/vpa-v1-crd-gen.yaml.
 */
const DEFINITION = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: {
    name: NAME,
    annotations: {
      "api-approved.kubernetes.io": "https://github.com/kubernetes/kubernetes/pull/63797",
    },
  },
  spec: {
    group: "autoscaling.k8s.io",
    names: {
      kind: "VerticalPodAutoscaler",
      listKind: "VerticalPodAutoscalerList",
      plural: "verticalpodautoscalers",
      shortNames: ["vpa"],
      singular: "verticalpodautoscaler",
    },
    scope: "Namespaced",
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      subresources: { status: {} },
      schema: {
        openAPIV3Schema: {
          type: "object",
          required: ["spec"],
          properties: {
            apiVersion: text,
            kind: text,
            metadata: { type: "object" },
            spec: {
              type: "object",
              required: ["targetRef"],
              properties: {
                targetRef,
                updatePolicy,
                recommenders: {
                  type: "array",
                  items: { type: "object", required: ["name"], properties: { name: text } },
                },
                resourcePolicy: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
              },
            },
            status: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
          },
        },
      },
    }],
  },
};

/** True when the server knows the kind already: a VPA is installed. */
export async function knowsVPAs(connection: KubeConnection): Promise<boolean> {
  return await orGone(connection.request({ path: `${CRDS}/${NAME}` })) !== undefined;
}

/** Teaches the server the kind, and waits until it serves it. */
export async function defineVPAs(connection: KubeConnection): Promise<void> {
  await connection.request({ method: "POST", path: CRDS, body: DEFINITION });
  const path = "/apis/autoscaling.k8s.io/v1/verticalpodautoscalers";
  await until("served kind", () => connection.request({ path }));
}

/** Takes the kind away again, with all its objects. */
export async function forgetVPAs(connection: KubeConnection): Promise<void> {
  await connection.request({ method: "DELETE", path: `${CRDS}/${NAME}` });
}

/** The server knows the kind until the end. */
export async function withVPAs(connection: KubeConnection): Promise<AsyncDisposable> {
  const isKnown = await knowsVPAs(connection);
  if (!isKnown) await defineVPAs(connection);
  return {
    [Symbol.asyncDispose]: async () => {
      if (!isKnown) await forgetVPAs(connection);
    },
  };
}

/** The path of a namespace's objects. */
export function vpasPath(namespace: string): string {
  return `/apis/autoscaling.k8s.io/v1/namespaces/${namespace}/verticalpodautoscalers`;
}

/** The VPA of the Deployment of the same name. */
export function vpaOf(deployment: string, updateMode: string): Record<string, unknown> {
  return {
    apiVersion: "autoscaling.k8s.io/v1",
    kind: "VerticalPodAutoscaler",
    metadata: { name: deployment },
    spec: {
      targetRef: { apiVersion: "apps/v1", kind: "Deployment", name: deployment },
      updatePolicy: { updateMode },
    },
  };
}
