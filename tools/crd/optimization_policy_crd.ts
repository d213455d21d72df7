/**
 * The CustomResourceDefinition of `OptimizationPolicy`.
 *
 * @module
 */
import { optimizationPolicySchema } from "../../shared/api/optimization_policy.ts";
import { type Column, definition } from "./definition.ts";
import { type JSONValue, structuralSchema } from "./structural_schema.ts";

const COLUMNS: readonly Column[] = [
  { name: "Mode", path: ".spec.mode", description: "Auto, Recommend or Disabled" },
  {
    name: "Provider",
    path: ".spec.metricsConfig.provider",
    description: "Where usage comes from",
  },
  {
    name: "Discovered",
    path: ".status.workloadsDiscovered",
    description: "Workloads that the policy matches",
    type: "integer",
  },
  {
    name: "Ready",
    path: '.status.conditions[?(@.type=="Ready")].status',
    description: "True when the policy can be followed",
  },
  {
    name: "Age",
    path: ".metadata.creationTimestamp",
    description: "Time since the policy was made",
    type: "date",
  },
];

/** The definition, ready to be written as a manifest. */
export function optimizationPolicyCRD(): JSONValue {
  const { spec, status } = optimizationPolicySchema.shape;
  return definition({
    group: "optipod.io",
    kind: "OptimizationPolicy",
    plural: "optimizationpolicies",
    shortNames: ["optpol"],
    description: "Which workloads are watched over hours and days, what is recommended that they " +
      "request, and whether it is applied.",
    columns: COLUMNS,
    fields: { spec: structuralSchema(spec), status: structuralSchema(status) },
    required: ["spec"],
    status: true,
  });
}
