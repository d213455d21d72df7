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
    "Values of the container in the template at that time. If one changes there, the adopted " +
      "values of that resource no longer apply.",
  ),
});

/** A change of a resource of the template by another field manager. */
export const templateChangeSchema = z.object({
  by: z.string().max(128).optional().describe(
    "Field manager that has owned the value since; absent if the server names none.",
  ),
  at: timeSchema.describe("Time of the change."),
});

/** A container of the template at the last reconcile. */
export const containerTemplateSchema = containerAmountsSchema.extend({
  container: containerAdviceSchema.shape.container,
  cpuChanged: templateChangeSchema.optional().describe(
    "Last change of CPU by another field manager; absent if there was none within a day.",
  ),
  memoryChanged: templateChangeSchema.optional().describe(
    "Last change of memory by another field manager; absent if there was none within a day.",
  ),
});

const quantity = z.string().max(64);

/** Measured usage of one resource by one container: samples, and quantities. */
export const usageFiguresSchema = z.object({
  samples: z.int().min(1).describe("Samples of all pods within the policy's window."),
  min: quantity.describe("Smallest sample."),
  p50: quantity.describe("Median of the samples."),
  p90: quantity.describe("90th percentile of the samples."),
  p95: quantity.describe("95th percentile of the samples."),
  p99: quantity.describe("99th percentile of the samples."),
  max: quantity.describe("Largest sample."),
});

/** The usage of a container. */
export const reportedUsageSchema = z.object({
  container: z.string().min(1).max(63).describe("Name of the container."),
  cpu: usageFiguresSchema.optional().describe(
    "CPU usage, for instance 250m; absent without samples.",
  ),
  memory: usageFiguresSchema.optional().describe("Memory usage in bytes; absent without samples."),
});

/** A workload of the report's namespace. */
export const reportedWorkloadSchema = workloadStatusSchema.omit({ namespace: true }).extend({
  policy: z.object({
    namespace: z.string().min(1).max(63).describe("Namespace of the policy."),
    name: z.string().min(1).max(253).describe("Name of the policy."),
  }).describe("Policy that applies to the workload."),
  inForce: z.array(containerValuesSchema).max(MOST_CONTAINERS).default([]).describe(
    "Values last adopted: running pods are resized to them, and new pods start with them.",
  ),
  uid: z.string().max(64).optional().describe("UID of the workload to which `template` belongs."),
  template: z.array(containerTemplateSchema).max(MOST_CONTAINERS).optional().describe(
    "Template at the last reconcile, to detect later changes.",
  ),
  usage: z.array(reportedUsageSchema).max(MOST_CONTAINERS).optional().describe(
    "Usage of the containers, from which the recommendations were calculated.",
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
