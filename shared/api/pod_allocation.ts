/**
 * `PodAllocation` (`allocation.mbcas.io/v1alpha1`): one managed pod. The controller publishes its
 * bounds, the agent of its node writes the desired limits, the controller reports what the kubelet
 * confirms. Named by the pod's UID, in the pod's namespace, owned by the pod.
 *
 * @module
 */
import * as z from "zod";
import { NODE_STATES } from "../scarcity/node_state.ts";
import { type ApiObject, conditionsSchema, reasonSchema, timeSchema } from "./object.ts";

/** API group and version of allocations. */
export const ALLOCATION_GROUP_VERSION = "allocation.mbcas.io/v1alpha1";

/** The plural of the kind. */
export const ALLOCATION_RESOURCE = "podallocations";

/** A CPU quantity in canonical text, for instance `250m`. */
const cpu = z.string().max(32).regex(/^(\d+(\.\d*)?|\.\d+)[numk]?$/);
const whole = z.int().min(0);

/** Lists of a pod's containers are bounded, so that the API server can bound the cost of rules. */
const MOST_CONTAINERS = 128;

/** A list that the API server merges by container name, and refuses when a name is there twice. */
const BY_NAME = { "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"] };

/** A field that no update may change. */
function identity(field: string, description: string): z.ZodString {
  return z.string().min(1).max(253).meta({
    description,
    "x-kubernetes-validations": [{
      rule: "self == oldSelf",
      message: `${field} is immutable`,
    }],
  });
}

/** Half a millicore absorbs what the quantities lose as floating-point numbers. */
const SUM_OF_CONTAINERS = {
  rule: "!has(self.desiredCPULimit) || !has(self.containers) || " +
    "self.containers.map(c, quantity(c.cpuLimit).asApproximateFloat()).sum() - " +
    "quantity(self.desiredCPULimit).asApproximateFloat() < 0.0005 && " +
    "quantity(self.desiredCPULimit).asApproximateFloat() - " +
    "self.containers.map(c, quantity(c.cpuLimit).asApproximateFloat()).sum() < 0.0005",
  message: "desiredCPULimit must be the sum of the containers' cpuLimit",
  fieldPath: ".desiredCPULimit",
};

/** A container and its CPU limit. */
export const containerLimitSchema = z.object({
  name: z.string().min(1).max(63).describe("Name of the container in the pod."),
  cpuLimit: cpu.describe("CPU limit of the container, for instance 250m."),
});

/** Results of the clearing, for people and for `kubectl coalloc explain`. */
export const marketSchema = z.object({
  mode: z.enum(["uncongested", "congested", "overloaded"]).describe(
    "uncongested: all needs fit the node. congested: the price divides it. " +
      "overloaded: the floors alone exceed it.",
  ),
  state: z.enum(NODE_STATES).optional().describe(
    "ample: the price is 0. scarce: the market divides the node's CPU. Absent if an older " +
      "version wrote the object.",
  ),
  price: z.number().min(0).optional().describe("Price per core; absent if infinite."),
  demand: z.number().min(0).describe("Demand: millicores that the pod would use without a limit."),
  need: z.number().min(0).describe("Need: the demand within floor and ceiling, in millicores."),
  credit: z.number().min(0).describe(
    "Factor on the weight. A pod earns credit while it uses less than its share.",
  ),
  reason: reasonSchema.describe("Reason of the desired limit."),
  observedBounds: whole.describe("The status.bounds.revision that the clearing used."),
  clearedAt: timeSchema.optional().describe(
    "Time at which the agent last confirmed these limits, by the node's clock; absent if an older " +
      "version wrote the object.",
  ),
});

/** One container's half of the bid that comes from the API. Millicores. */
export const containerBoundsSchema = z.object({
  name: z.string().min(1).max(63).describe("Name of the container in the pod."),
  containerID: z.string().min(1).max(256).describe(
    "ID of the running container in the pod's status, for instance containerd://0123abcd.",
  ),
  floor: whole.describe("Floor in millicores: the limit is not lowered below it."),
  ceiling: whole.describe("Ceiling in millicores: the limit is not raised above it."),
  weight: z.number().positive().describe("Share of scarce CPU, relative to other containers."),
  multiplier: z.number().positive().optional().describe(
    "Factor on the weight by the pod's priority; absent if it is 1.",
  ),
  held: z.enum(["half", "lower", "both"]).optional().describe(
    "half: each decrease goes at most half of the way to the floor. lower: the limit is not " +
      "lowered. both: the limit does not change.",
  ),
  boost: z.literal(true).optional().describe(
    "true: the container is starting, and gets the node's spare CPU up to its ceiling.",
  ),
  requestMoves: z.literal(true).optional().describe(
    "true: the request changes with the limit, so the limit follows the container's need even " +
      "while CPU is free: a request at the ceiling would keep other pods off the node.",
  ),
  demand: whole.optional().describe(
    "Demand by a metric, in millicores. The larger of this and the demand by the kernel's " +
      "readings counts.",
  ),
});

/** One reason of the bounds. */
export const boundRuleSchema = z.object({
  reason: reasonSchema.describe("Reason of a bound, in CamelCase."),
  message: z.string().max(4096).describe("The reason as a sentence with numbers."),
});

/** Most rules that are published for a pod. */
export const MOST_RULES = 128;

/** The bounds of a pod's containers. */
export const boundsSchema = z.object({
  revision: whole.describe("Number that each change of the bounds increases by one."),
  reason: z.string().max(4096).describe(
    "Reasons of the bounds, separated by commas; empty if only the defaults set them.",
  ),
  rules: z.array(boundRuleSchema).max(MOST_RULES).optional().describe(
    "Rules that set the bounds.",
  ),
  containers: z.array(containerBoundsSchema).max(MOST_CONTAINERS).meta({
    description: "Bounds of each container that takes part.",
    ...BY_NAME,
  }),
});

/** A container's limit and request before the first change; an absent one was not set. */
export const originalSchema = z.object({
  name: z.string().min(1).max(63).describe("Name of the container in the pod."),
  cpu: cpu.optional().describe("Original value; absent if the pod had none."),
  replaces: cpu.optional().describe(
    "Original value in the pod's spec, if rightsizing replaced it by cpu.",
  ),
});

const originals = z.array(originalSchema).max(MOST_CONTAINERS);
const containerLimits = z.array(containerLimitSchema).max(MOST_CONTAINERS);

/** The part of the spec that the agent may write. */
export const desiredSchema = z.object({
  desiredCPULimit: cpu.optional().describe(
    "CPU limit of the pod that the market wants: the sum over its containers. Absent until the " +
      "first clearing.",
  ),
  containers: containerLimits.min(1).optional().meta({
    description: "The CPU limit that the market wants for each container.",
    ...BY_NAME,
  }),
  market: marketSchema.optional().describe("State of the node's market at the last clearing."),
});

/** The whole object. */
export const podAllocationSchema = z.object({
  apiVersion: z.literal(ALLOCATION_GROUP_VERSION),
  kind: z.literal("PodAllocation"),
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    generation: whole.optional(),
    creationTimestamp: z.string().optional(),
    ownerReferences: z.array(z.object({
      apiVersion: z.string(),
      kind: z.string(),
      name: z.string(),
      uid: z.string(),
    })).optional(),
  }),
  spec: z.object({
    podName: identity("podName", "Name of the pod."),
    podUID: identity("podUID", "UID of the pod, since a new pod can have the same name."),
    nodeName: identity(
      "nodeName",
      "Node of the pod; the agent of this node sets the desired limits.",
    ),
    namespace: identity("namespace", "Namespace of the pod, the same as this object's."),
    ...desiredSchema.shape,
  }).meta({
    description: "The pod, and the CPU limits that the market of its node wants for it.",
    "x-kubernetes-validations": [SUM_OF_CONTAINERS],
  }),
  status: z.object({
    bounds: boundsSchema.optional().describe(
      "Bounds of the limits that the market may set; written by the controller.",
    ),
    originalLimits: originals.optional().meta({
      description: "Original CPU limits, from before the first change.",
      ...BY_NAME,
    }),
    originalRequests: originals.optional().meta({
      description: "Original CPU requests, from before the first change.",
      ...BY_NAME,
    }),
    phase: z.enum(["Pending", "Applied", "Failed"]).optional().describe(
      "Applied: the kubelet reports the desired limits. Pending: it does not yet. Failed: they were " +
        "refused.",
    ),
    appliedCPULimit: cpu.optional().describe("CPU limit of the pod that the kubelet reports."),
    containers: containerLimits.optional().meta({
      description: "CPU limit of each container that the kubelet reports.",
      ...BY_NAME,
    }),
    reason: reasonSchema.optional().describe(
      "Reason why the desired limits are or are not applied, in CamelCase.",
    ),
    message: z.string().max(32_768).optional().describe("The reason as a sentence."),
    conditions: conditionsSchema(
      "Conditions for kubectl wait. Applied: the kubelet reports the desired limits.",
    ).optional(),
    observedGeneration: whole.optional().describe(
      "metadata.generation to which the status belongs.",
    ),
    lastAttemptTime: timeSchema.optional().describe("Time of the last resize request."),
    lastAppliedTime: timeSchema.optional().describe(
      "Time at which the kubelet last confirmed a change.",
    ),
  }).optional().describe("Bounds, applied limits and their state; written by the controller."),
});

/** A container and its CPU limit. */
export type ContainerLimit = z.infer<typeof containerLimitSchema>;
/** One container's bounds. */
export type ContainerBounds = z.infer<typeof containerBoundsSchema>;
/** The rule that set a bound. */
export type BoundRule = z.infer<typeof boundRuleSchema>;
/** A pod's bounds. */
export type Bounds = z.infer<typeof boundsSchema>;
/** A container's original limit or request. */
export type Original = z.infer<typeof originalSchema>;
/** The part of the spec that the agent writes. */
export type Desired = z.infer<typeof desiredSchema>;
/** The status half. */
export type PodAllocationStatus = NonNullable<z.infer<typeof podAllocationSchema>["status"]>;
/** The whole object. */
export type PodAllocation = z.infer<typeof podAllocationSchema> & ApiObject;
