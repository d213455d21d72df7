/**
 * `PodAllocation` (`allocation.mbcas.io/v1alpha1`): one managed pod. The controller publishes its
 * bounds, the agent of its node writes the desired limits, the controller reports what the kubelet
 * confirms. Named by the pod's UID, in the pod's namespace, owned by the pod.
 *
 * @module
 */
import { z } from "zod";
import type { ApiObject } from "../control/list_watch.ts";
import { enforcementReasonSchema, marketReasonSchema } from "./reason.ts";

/** A CPU quantity in canonical text, for instance `250m`. */
const cpu = z.string().regex(/^(\d+(\.\d*)?|\.\d+)[numk]?$/);
const whole = z.int().min(0);

/** A container and its CPU limit. */
export const containerLimitSchema = z.object({
  name: z.string().min(1),
  cpuLimit: cpu,
});

/** What the clearing saw, for people and for `kubectl coalloc explain`. */
export const marketSchema = z.object({
  mode: z.enum(["uncongested", "congested", "overloaded"]),
  /** 1/millicore; absent when infinite. */
  price: z.number().min(0).optional(),
  /** Millicores the pod would use if nothing held it back. */
  demand: z.number().min(0),
  /** Millicores: demand within floor and ceiling. */
  need: z.number().min(0),
  /** Factor on the weight, earned by leaving CPU to others. */
  credit: z.number().min(0),
  reason: marketReasonSchema,
  /** `status.bounds.revision` that the clearing used. */
  observedBounds: whole,
});

/** One container's half of the bid that comes from the API. Millicores. */
export const containerBoundsSchema = z.object({
  name: z.string().min(1),
  /** `containerd://<hex>`, as in the pod's status. */
  containerID: z.string().min(1),
  floor: whole,
  ceiling: whole,
  weight: z.number().positive(),
  /** `lower`: never below the present limit; `both`: not changed at all. */
  held: z.enum(["lower", "both"]).optional(),
});

/** The bounds of a pod's containers. */
export const boundsSchema = z.object({
  /** Grows by one with each change. */
  revision: whole,
  reason: z.string(),
  containers: z.array(containerBoundsSchema),
});

/** A container's limit and request before the first change; an absent one was not set. */
export const originalSchema = z.object({ name: z.string().min(1), cpu: cpu.optional() });

/** What the agent may write. */
export const desiredSchema = z.object({
  /** The pod's total, Σ of the containers. */
  desiredCPULimit: cpu.optional(),
  containers: z.array(containerLimitSchema).optional(),
  market: marketSchema.optional(),
});

/** The whole object. */
export const podAllocationSchema = z.object({
  apiVersion: z.literal("allocation.mbcas.io/v1alpha1"),
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
    podName: z.string().min(1),
    podUID: z.string().min(1),
    nodeName: z.string().min(1),
    namespace: z.string().min(1),
    ...desiredSchema.shape,
  }),
  status: z.object({
    bounds: boundsSchema.optional(),
    originalLimits: z.array(originalSchema).optional(),
    originalRequests: z.array(originalSchema).optional(),
    phase: z.enum(["Pending", "Applied", "Failed"]).optional(),
    /** What the kubelet reports, the pod's total. */
    appliedCPULimit: cpu.optional(),
    containers: z.array(containerLimitSchema).optional(),
    reason: enforcementReasonSchema.optional(),
    message: z.string().optional(),
    observedGeneration: whole.optional(),
    lastAttemptTime: z.string().optional(),
    lastAppliedTime: z.string().optional(),
  }).optional(),
});

/** A container and its CPU limit. */
export type ContainerLimit = z.infer<typeof containerLimitSchema>;
/** One container's bounds. */
export type ContainerBounds = z.infer<typeof containerBoundsSchema>;
/** A pod's bounds. */
export type Bounds = z.infer<typeof boundsSchema>;
/** A container's own limit or request. */
export type Original = z.infer<typeof originalSchema>;
/** What the agent writes. */
export type Desired = z.infer<typeof desiredSchema>;
/** The status half. */
export type PodAllocationStatus = NonNullable<z.infer<typeof podAllocationSchema>["status"]>;
/** The whole object. */
export type PodAllocation = z.infer<typeof podAllocationSchema> & ApiObject;
