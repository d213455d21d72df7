/**
 * The CustomResourceDefinition of `PodAllocation`.
 *
 * @module
 */
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { type JSONValue, structuralSchema } from "./structural_schema.ts";

const GROUP = "allocation.mbcas.io";
const PLURAL = "podallocations";

/** A column of `kubectl get`; `wide` ones show with `-o wide` only. */
interface Column {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly type?: "date" | "number";
  readonly wide?: boolean;
}

const COLUMNS: readonly Column[] = [
  { name: "Pod", path: ".spec.podName", description: "Name of the pod" },
  { name: "Desired", path: ".spec.desiredCPULimit", description: "CPU limit the market wants" },
  {
    name: "Applied",
    path: ".status.appliedCPULimit",
    description: "CPU limit the kubelet reports",
  },
  { name: "Phase", path: ".status.phase", description: "Pending, Applied or Failed" },
  { name: "Reason", path: ".status.reason", description: "Why it is or is not applied" },
  {
    name: "Age",
    path: ".metadata.creationTimestamp",
    description: "Time since the pod entered the market",
    type: "date",
  },
  { name: "Node", path: ".spec.nodeName", description: "Node of the pod", wide: true },
  { name: "Mode", path: ".spec.market.mode", description: "Mode of the node's market", wide: true },
  {
    name: "Price",
    path: ".spec.market.price",
    description: "Price per millicore on the node",
    type: "number",
    wide: true,
  },
  {
    name: "Demand",
    path: ".spec.market.demand",
    description: "Millicores the pod would use if nothing held it back",
    type: "number",
    wide: true,
  },
];

/** The definition, ready to be written as a manifest. */
export function podAllocationCRD(): JSONValue {
  const { spec, status } = podAllocationSchema.shape;
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${PLURAL}.${GROUP}` },
    spec: {
      group: GROUP,
      scope: "Namespaced",
      names: {
        kind: "PodAllocation",
        listKind: "PodAllocationList",
        plural: PLURAL,
        singular: "podallocation",
        shortNames: ["pa"],
      },
      versions: [{
        name: "v1alpha1",
        served: true,
        storage: true,
        subresources: { status: {} },
        selectableFields: [{ jsonPath: ".spec.nodeName" }],
        additionalPrinterColumns: COLUMNS.map(printerColumn),
        schema: {
          openAPIV3Schema: {
            type: "object",
            description:
              "One pod in the CPU market of its node: the bounds that the controller publishes, " +
              "the limits that the agent wants, and what the kubelet confirms. Named by the pod's " +
              "UID and removed with the pod.",
            required: ["spec"],
            properties: {
              apiVersion: { type: "string", description: `Always ${GROUP}/v1alpha1.` },
              kind: { type: "string", description: "Always PodAllocation." },
              metadata: { type: "object" },
              spec: structuralSchema(spec),
              status: structuralSchema(status),
            },
          },
        },
      }],
    },
  };
}

function printerColumn({ name, path, description, type, wide = false }: Column): JSONValue {
  return {
    name,
    type: type ?? "string",
    jsonPath: path,
    description,
    ...(wide ? { priority: 1 } : {}),
  };
}
