/**
 * `RecommendationReport` (`optipod.io/v1alpha1`): all workloads of a namespace that a policy looks at,
 * with all their containers. A namespace has as many of them as its workloads fill; read by
 * `kubectl coalloc recommend`.
 *
 * @module
 */
import * as z from "zod";
import { type ApiObject, timeSchema } from "./object.ts";
import { OPTIPOD_GROUP_VERSION } from "./optimization_policy.ts";
import { containerAdviceSchema, MOST_CONTAINERS, workloadStatusSchema } from "./policy_status.ts";

/** Requests and limits of a container; absent: none. */
export const containerAmountsSchema = containerAdviceSchema.pick({
  cpu: true,
  memory: true,
  cpuLimit: true,
  memoryLimit: true,
}).partial();

/** Values of a container that were adopted; what is absent was left as it was. */
export const containerValuesSchema = containerAmountsSchema.extend({
  container: containerAdviceSchema.shape.container,
  adoptedOn: containerAmountsSchema.optional().describe(
    "What the template said of the container then: where that has been changed, the values of " +
      "that resource count no longer.",
  ),
});

/** A change of a resource of the template by another field manager. */
export const templateChangeSchema = z.object({
  by: z.string().max(128).optional().describe(
    "The field manager that owns the value since; absent where the server names none.",
  ),
  at: timeSchema.describe("Time of the change."),
});

/** A container of the template at the last reconcile. */
export const containerTemplateSchema = containerAmountsSchema.extend({
  container: containerAdviceSchema.shape.container,
  cpuChanged: templateChangeSchema.optional().describe(
    "Its last change of CPU by another field manager; absent: none within a day.",
  ),
  memoryChanged: templateChangeSchema.optional().describe(
    "Its last change of memory by another field manager; absent: none within a day.",
  ),
});

const quantity = z.string().max(64);

/** Measured usage of one resource by one container: samples, and quantities. */
export const usageFiguresSchema = z.object({
  samples: z.int().min(1).describe("Samples of all pods within the policy's window."),
  min: quantity.describe("The smallest sample."),
  p50: quantity.describe("Half of the samples are not above it."),
  p90: quantity.describe("90 % of the samples are not above it."),
  p95: quantity.describe("95 % of the samples are not above it."),
  p99: quantity.describe("99 % of the samples are not above it."),
  max: quantity.describe("The largest sample."),
});

/** The usage of a container. */
export const reportedUsageSchema = z.object({
  container: z.string().min(1).max(63).describe("Name of the container."),
  cpu: usageFiguresSchema.optional().describe("CPU, for instance 250m; absent without samples."),
  memory: usageFiguresSchema.optional().describe("Memory in bytes; absent without samples."),
});

/** A workload of the report's namespace. */
export const reportedWorkloadSchema = workloadStatusSchema.omit({ namespace: true }).extend({
  policy: z.object({
    namespace: z.string().min(1).max(63).describe("Namespace of the policy."),
    name: z.string().min(1).max(253).describe("Name of the policy."),
  }).describe("The policy that counts for the workload."),
  inForce: z.array(containerValuesSchema).max(MOST_CONTAINERS).default([]).describe(
    "What was last adopted: running pods are brought to it, and new ones begin with it.",
  ),
  uid: z.string().max(64).optional().describe("UID of the workload that `template` is about."),
  template: z.array(containerTemplateSchema).max(MOST_CONTAINERS).optional().describe(
    "Its template at the last reconcile: a value that differs from it was changed since.",
  ),
  usage: z.array(reportedUsageSchema).max(MOST_CONTAINERS).optional().describe(
    "What the containers used: what the recommendations were made of, in a few figures.",
  ),
});

/** The whole object. */
export const recommendationReportSchema = z.object({
  apiVersion: z.literal(OPTIPOD_GROUP_VERSION),
  kind: z.literal("RecommendationReport"),
  metadata: z.object({
    name: z.string(),
    namespace: z.string(),
    uid: z.string(),
    resourceVersion: z.string(),
    labels: z.record(z.string(), z.string()).optional(),
  }),
  workloads: z.array(reportedWorkloadSchema).default([]).meta({
    description: "Workloads, by kind and name.",
    // As a whole: the server would keep a record of each field of each workload otherwise.
    "x-kubernetes-list-type": "atomic",
  }),
});

/** A workload in a report. */
export type ReportedWorkload = z.infer<typeof reportedWorkloadSchema>;
/** The whole object. */
export type RecommendationReport = z.infer<typeof recommendationReportSchema> & ApiObject;
