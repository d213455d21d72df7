/**
 * The CustomResourceDefinition of `PodAllocation`.
 *
 * @module
 */
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { type Column, definition } from "./definition.ts";
import { type JSONValue, structuralSchema } from "./structural_schema.ts";

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
    description: "Price per core on the node",
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
  return definition({
    group: "allocation.mbcas.io",
    kind: "PodAllocation",
    plural: "podallocations",
    shortNames: ["palloc"],
    description:
      "One pod in the CPU market of its node: the bounds that the controller publishes, " +
      "the limits that the agent wants, and what the kubelet confirms. Named by the pod's " +
      "UID and removed with the pod.",
    columns: COLUMNS,
    fields: { spec: structuralSchema(spec), status: structuralSchema(status) },
    required: ["spec"],
    status: true,
    selectable: [".spec.nodeName", ".spec.podName"],
  });
}
