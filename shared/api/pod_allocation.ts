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
    "ample: the price is 0. scarce: the market divides the node's CPU. Absent where an older " +
      "version wrote.",
  ),
  price: z.number().min(0).optional().describe("Price per core; absent when infinite."),
  demand: z.number().min(0).describe("Millicores that the pod would use if nothing held it back."),
  need: z.number().min(0).describe("Millicores: the demand within floor and ceiling."),
  credit: z.number().min(0).describe("Factor on the weight, earned by leaving CPU to others."),
  reason: reasonSchema.describe("Why the desired limit is what it is."),
  observedBounds: whole.describe("The status.bounds.revision that the clearing used."),
  clearedAt: timeSchema.optional().describe(
    "When the agent stood by these limits, by the node's clock; absent where an older version wrote.",
  ),
});

/** One container's half of the bid that comes from the API. Millicores. */
export const containerBoundsSchema = z.object({
  name: z.string().min(1).max(63).describe("Name of the container in the pod."),
  containerID: z.string().min(1).max(256).describe(
    "The running container as in the pod's status, for instance containerd://0123abcd.",
  ),
  floor: whole.describe("Millicores: the limit is never lowered below this."),
  ceiling: whole.describe("Millicores: the limit is never raised above this."),
  weight: z.number().positive().describe("Share of a congested node, relative to others'."),
  multiplier: z.number().positive().optional().describe(
    "Factor in the weight beside the request, by the pod's priority; absent where it is 1.",
  ),
  held: z.enum(["half", "lower", "both"]).optional().describe(
    "half: lowered half of the way to the floor at a time. lower: not below the present limit. " +
      "both: not changed at all.",
  ),
  boost: z.literal(true).optional().describe(
    "true: the container starts, and gets what the node has to spare, up to its ceiling.",
  ),
  requestMoves: z.literal(true).optional().describe(
    "true: the request moves with the limit, so that the limit follows the container's need even " +
      "while CPU is free: a request at the ceiling would keep other pods off the node.",
  ),
  demand: whole.optional().describe(
    "Millicores that a metric of the configuration says the container could use; the larger of " +
      "this and what the kernel shows counts.",
  ),
});

/** One reason of the bounds. */
export const boundRuleSchema = z.object({
  reason: reasonSchema.describe("The cause of a bound, in CamelCase."),
  message: z.string().max(4096).describe("The same in a sentence, with its numbers."),
});

/** Most rules that are published for a pod. */
export const MOST_RULES = 128;

/** The bounds of a pod's containers. */
export const boundsSchema = z.object({
  revision: whole.describe("Grows by one with each change of the bounds."),
  reason: z.string().max(4096).describe(
    "The reasons of the bounds, separated by commas; empty when nothing special set them.",
  ),
  rules: z.array(boundRuleSchema).max(MOST_RULES).optional().describe(
    "What set the bounds, each with its sentence.",
  ),
  containers: z.array(containerBoundsSchema).max(MOST_CONTAINERS).meta({
    description: "The bounds of each container that takes part.",
    ...BY_NAME,
  }),
});

/** A container's limit and request before the first change; an absent one was not set. */
export const originalSchema = z.object({
  name: z.string().min(1).max(63).describe("Name of the container in the pod."),
  cpu: cpu.optional().describe("The user's own value; absent when the user had set none."),
  replaces: cpu.optional().describe(
    "The value that the pod itself still has as the user's own, where rightsizing has put cpu in " +
      "its place.",
  ),
});

const originals = z.array(originalSchema).max(MOST_CONTAINERS);
const containerLimits = z.array(containerLimitSchema).max(MOST_CONTAINERS);

/** The part of the spec that the agent may write. */
export const desiredSchema = z.object({
  desiredCPULimit: cpu.optional().describe(
    "The pod's CPU limit that the market wants, the sum of the containers'; absent until the " +
      "first clearing.",
  ),
  containers: containerLimits.min(1).optional().meta({
    description: "The CPU limit that the market wants for each container.",
    ...BY_NAME,
  }),
  market: marketSchema.optional().describe("What the node's market saw when it cleared."),
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
    podUID: identity("podUID", "UID of the pod: a pod reborn under the same name is another one."),
    nodeName: identity("nodeName", "Node that the pod runs on; the agent of this node clears it."),
    namespace: identity("namespace", "Namespace of the pod, the same as this object's."),
    ...desiredSchema.shape,
  }).meta({
    description: "The pod, and the CPU limits that the market of its node wants for it.",
    "x-kubernetes-validations": [SUM_OF_CONTAINERS],
  }),
  status: z.object({
    bounds: boundsSchema.optional().describe(
      "Within which limits the market may move, from the API's side; written by the controller.",
    ),
    originalLimits: originals.optional().meta({
      description: "The user's own CPU limits, from before the first change.",
      ...BY_NAME,
    }),
    originalRequests: originals.optional().meta({
      description: "The user's own CPU requests, from before the first change.",
      ...BY_NAME,
    }),
    phase: z.enum(["Pending", "Applied", "Failed"]).optional().describe(
      "Applied: the kubelet reports the desired limits. Pending: not yet. Failed: refused.",
    ),
    appliedCPULimit: cpu.optional().describe("The pod's CPU limit that the kubelet reports."),
    containers: containerLimits.optional().meta({
      description: "The CPU limit of each container that the kubelet reports.",
      ...BY_NAME,
    }),
    reason: reasonSchema.optional().describe(
      "Why the desired limits are or are not applied, in CamelCase.",
    ),
    message: z.string().max(32_768).optional().describe("The reason in a sentence."),
    conditions: conditionsSchema(
      "For kubectl wait. Applied: the kubelet reports the desired limits.",
    ).optional(),
    observedGeneration: whole.optional().describe("The metadata.generation that was acted on."),
    lastAttemptTime: timeSchema.optional().describe("Time of the last resize request."),
    lastAppliedTime: timeSchema.optional().describe(
      "Time at which the kubelet last confirmed a change.",
    ),
  }).optional().describe("What became of it, and the bounds; written by the controller."),
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
