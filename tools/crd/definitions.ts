/**
 * The CustomResourceDefinitions, each of one version, ready to be written as manifests.
 *
 * @module
 */
import { z } from "zod";
import { optimizationPolicySchema } from "../../shared/api/optimization_policy.ts";
import { podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import { recommendationReportSchema } from "../../shared/api/recommendation_report.ts";

/** A value of JSON. */
export type JSONValue =
  | null
  | boolean
  | number
  | string
  | readonly JSONValue[]
  | { readonly [key: string]: JSONValue };

/** A schema as it stands in a manifest. */
export type StructuralSchema = { readonly [key: string]: JSONValue };

/**
 * The structural schema of what `schema` accepts. Descriptions and `x-kubernetes-…` extensions come
 * from the schema's `.meta()`. Throws what zod throws for a type without an OpenAPI form, such as a
 * date or a transform.
 */
export function structuralSchema(schema: z.ZodType): StructuralSchema {
  const plain = z.toJSONSchema(schema, {
    target: "openapi-3.0",
    io: "input",
    override({ jsonSchema }) {
      // The server prunes unknown fields by itself, and refuses `false` beside `properties`; of a map
      // this is the schema of its values.
      const { additionalProperties: others } = jsonSchema;
      if (typeof others !== "object" || Object.keys(others).length === 0) {
        delete jsonSchema.additionalProperties;
      }
      // It takes its two types for granted, and no bounds of theirs.
      if (jsonSchema["x-kubernetes-int-or-string"] === true) delete jsonSchema.anyOf;
    },
  });
  return JSON.parse(JSON.stringify(plain));
}

/** A column of `kubectl get`; `wide` ones show with `-o wide` only. */
interface Column {
  readonly name: string;
  readonly path: string;
  readonly description: string;
  readonly type?: "date" | "number" | "integer";
  readonly wide?: true;
}

/** A namespaced kind. */
interface KindOfObject {
  readonly group: string;
  readonly kind: string;
  readonly plural: string;
  readonly shortName: string;
  readonly description: string;
  readonly columns: readonly Column[];
  /** Beside apiVersion, kind and metadata. A `spec` must be there; `status` is a subresource of its own. */
  readonly fields: Readonly<Record<string, z.ZodType>>;
  /** Paths of the fields that `--field-selector` takes. */
  readonly selectable?: readonly string[];
}

function definition(
  { group, kind, plural, shortName, description, columns, fields, selectable }: KindOfObject,
): JSONValue {
  return {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: `${plural}.${group}` },
    spec: {
      group,
      scope: "Namespaced",
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular: kind.toLowerCase(),
        shortNames: [shortName],
        categories: ["coallocator"],
      },
      versions: [{
        name: "v1alpha1",
        served: true,
        storage: true,
        ...("status" in fields ? { subresources: { status: {} } } : {}),
        ...(selectable === undefined
          ? {}
          : { selectableFields: selectable.map((jsonPath) => ({ jsonPath })) }),
        additionalPrinterColumns: columns.map(({ name, path, type, wide, ...column }) => ({
          name,
          type: type ?? "string",
          jsonPath: path,
          ...column,
          ...(wide ? { priority: 1 } : {}),
        })),
        schema: {
          openAPIV3Schema: {
            type: "object",
            description,
            ...("spec" in fields ? { required: ["spec"] } : {}),
            properties: {
              apiVersion: { type: "string", description: `Always ${group}/v1alpha1.` },
              kind: { type: "string", description: `Always ${kind}.` },
              metadata: { type: "object" },
              ...Object.fromEntries(
                Object.entries(fields).map(([name, field]) => [name, structuralSchema(field)]),
              ),
            },
          },
        },
      }],
    },
  };
}

function age(what: string): Column {
  return {
    name: "Age",
    path: ".metadata.creationTimestamp",
    description: `Time since the ${what}`,
    type: "date",
  };
}

/** The definition of `PodAllocation`. */
export function podAllocationCRD(): JSONValue {
  return definition({
    group: "allocation.mbcas.io",
    kind: "PodAllocation",
    plural: "podallocations",
    shortName: "palloc",
    description:
      "One pod in the CPU market of its node: the bounds that the controller publishes, " +
      "the limits that the agent wants, and what the kubelet confirms. Named by the pod's " +
      "UID and removed with the pod.",
    columns: [
      { name: "Pod", path: ".spec.podName", description: "Name of the pod" },
      {
        name: "Desired",
        path: ".spec.desiredCPULimit",
        description: "CPU limit that the market wants",
      },
      {
        name: "Applied",
        path: ".status.appliedCPULimit",
        description: "CPU limit that the kubelet reports",
      },
      { name: "Phase", path: ".status.phase", description: "Pending, Applied or Failed" },
      { name: "Reason", path: ".status.reason", description: "Reason why it is or is not applied" },
      age("pod entered the market"),
      { name: "Node", path: ".spec.nodeName", description: "Node of the pod", wide: true },
      {
        name: "Mode",
        path: ".spec.market.mode",
        description: "Mode of the node's market",
        wide: true,
      },
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
        description: "Millicores that the pod would use without a limit",
        type: "number",
        wide: true,
      },
    ],
    fields: podAllocationSchema.pick({ spec: true, status: true }).shape,
    selectable: [".spec.nodeName", ".spec.podName"],
  });
}

/** The definition of `OptimizationPolicy`. */
export function optimizationPolicyCRD(): JSONValue {
  return definition({
    group: "optipod.io",
    kind: "OptimizationPolicy",
    plural: "optimizationpolicies",
    shortName: "optpol",
    description:
      "Policy for rightsizing: selects workloads, recommends requests from their usage over hours " +
      "and days, and can apply them.",
    columns: [
      { name: "Mode", path: ".spec.mode", description: "Auto, Recommend or Disabled" },
      {
        name: "Provider",
        path: ".spec.metricsConfig.provider",
        description: "Source of usage",
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
        description: "True if the policy is valid and its source of metrics answers",
      },
      age("policy was created"),
    ],
    fields: optimizationPolicySchema.pick({ spec: true, status: true }).shape,
  });
}

/** The definition of `RecommendationReport`. */
export function recommendationReportCRD(): JSONValue {
  return definition({
    group: "optipod.io",
    kind: "RecommendationReport",
    plural: "recommendationreports",
    shortName: "recrep",
    description:
      "Recommended requests of the workloads of a namespace, with all their containers. Written by " +
      "the controller. A namespace has one or more reports; the first is recommendations-1.",
    columns: [age("report was created")],
    fields: recommendationReportSchema.pick({ workloads: true }).shape,
  });
}
