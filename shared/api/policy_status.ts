/**
 * The status of a policy, and of a workload in a report: both have the same fields.
 *
 * @module
 */
import * as z from "zod";
import { conditionsSchema, reasonSchema, timeSchema } from "./object.ts";

const whole = z.int().min(0);

/** Most characters of a sentence. */
const LONGEST_SENTENCE = 4096;

/** Most containers of one workload. */
export const MOST_CONTAINERS = 128;

/** Most workloads in a policy's status. */
export const MOST_WORKLOADS = 100;

const written = z.string().max(64);

/** The recommended requests and limits of a container. */
export const containerAdviceSchema = z.object({
  container: z.string().min(1).max(63).describe("Name of the container."),
  cpu: written.describe("CPU request, for instance 250m."),
  memory: written.describe("Memory request, for instance 128Mi or 88617123, in bytes."),
  cpuLimit: written.optional().describe("CPU limit; absent if the policy does not change limits."),
  memoryLimit: written.optional().describe(
    "Memory limit; absent if the policy does not change limits.",
  ),
  explanation: z.string().max(LONGEST_SENTENCE).describe(
    "Percentile, samples, window, raw value, factor, bounds, and the bound that clamped it.",
  ),
});

/** The outcome for a workload in the last cycle. */
export const workloadStatusSchema = z.object({
  namespace: z.string().min(1).max(63).describe("Namespace of the workload."),
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]).describe("Kind of the workload."),
  name: z.string().min(1).max(253).describe("Name of the workload."),
  status: z.enum(["Applied", "Recommended", "Skipped", "Error"]).describe(
    "Applied: the workload has the recommended values. Recommended: the recommendation is only " +
      "published. Skipped: the reason blocks it. Error: the reason is a failure.",
  ),
  reason: reasonSchema.optional().describe("The reason, in CamelCase."),
  message: z.string().max(LONGEST_SENTENCE).optional().describe("The reason as a sentence."),
  lastRecommendation: timeSchema.optional().describe("Time of the last recommendation."),
  lastApplied: timeSchema.optional().describe("Time at which values were last applied."),
  lastApplyMethod: z.enum(["InPlace", "Recreate", "Skip"]).optional().describe(
    "InPlace: running pods were resized. Recreate: the template was changed. Skip: neither.",
  ),
  recommendations: z.array(containerAdviceSchema).max(MOST_CONTAINERS).default([]).describe(
    "Recommended requests and limits of each container.",
  ),
});

/** The status of a policy. */
export const policyStatusSchema = z.object({
  conditions: conditionsSchema(
    "Conditions for kubectl wait. Ready: the policy is valid and its source of metrics answers. " +
      "MetricsMissing: a workload has no recommendation because metrics are missing. DryRun: " +
      "recommendations are published and not applied.",
  ).optional(),
  workloadsDiscovered: whole.optional().describe("Workloads that the policy matches."),
  workloadsProcessed: whole.optional().describe("Workloads that were evaluated completely."),
  workloadsByType: z.object({
    deployments: whole.optional().describe("Number of Deployments."),
    statefulSets: whole.optional().describe("Number of StatefulSets."),
    daemonSets: whole.optional().describe("Number of DaemonSets."),
  }).optional().describe("Workloads that the policy matches, by kind."),
  lastReconciliation: timeSchema.optional().describe("Time of the last evaluation."),
  observedGeneration: whole.optional().describe("metadata.generation of the last evaluation."),
  workloads: z.array(workloadStatusSchema).max(MOST_WORKLOADS).optional().describe(
    "Up to 100 workloads: errors first, then skipped ones, then the largest changes. The " +
      "RecommendationReports of the namespaces have all workloads with all containers.",
  ),
}).describe("Outcome of the policy; written by the controller.");

/** The outcome for a workload. */
export type WorkloadStatus = z.infer<typeof workloadStatusSchema>;
/** The status of a policy. */
export type PolicyStatus = z.infer<typeof policyStatusSchema>;
