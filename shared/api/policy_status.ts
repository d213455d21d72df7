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
  cpuLimit: written.optional().describe("CPU limit; absent where limits are left alone."),
  memoryLimit: written.optional().describe("Memory limit; absent where limits are left alone."),
  explanation: z.string().max(LONGEST_SENTENCE).describe(
    "Percentile, samples, window, raw value, factor, bounds and what clamped it.",
  ),
});

/** The outcome for a workload in the last cycle. */
export const workloadStatusSchema = z.object({
  namespace: z.string().min(1).max(63).describe("Namespace of the workload."),
  kind: z.enum(["Deployment", "StatefulSet", "DaemonSet"]).describe("Kind of the workload."),
  name: z.string().min(1).max(253).describe("Name of the workload."),
  status: z.enum(["Applied", "Recommended", "Skipped", "Error"]).describe(
    "Applied: it has the recommended values. Recommended: it is published, not applied. " +
      "Skipped: something held it back. Error: something failed.",
  ),
  reason: reasonSchema.optional().describe("The reason, in CamelCase."),
  message: z.string().max(LONGEST_SENTENCE).optional().describe("The same in a sentence."),
  lastRecommendation: timeSchema.optional().describe("Time of the last recommendation."),
  lastApplied: timeSchema.optional().describe("Time at which values were last applied."),
  lastApplyMethod: z.enum(["InPlace", "Recreate", "Skip"]).optional().describe(
    "InPlace: running pods were resized. Recreate: the template was changed. Skip: neither.",
  ),
  recommendations: z.array(containerAdviceSchema).max(MOST_CONTAINERS).default([]).describe(
    "What each container should ask for.",
  ),
});

/** The status of a policy. */
export const policyStatusSchema = z.object({
  conditions: conditionsSchema(
    "For kubectl wait. Ready: the policy can be followed. MetricsMissing: a workload has no " +
      "recommendation for want of metrics. DryRun: recommendations are made, and none is applied.",
  ).optional(),
  workloadsDiscovered: whole.optional().describe("Workloads that the policy matches."),
  workloadsProcessed: whole.optional().describe("Those of them that were evaluated to the end."),
  workloadsByType: z.object({
    deployments: whole.optional().describe("Deployments among those that it matches."),
    statefulSets: whole.optional().describe("StatefulSets among those that it matches."),
    daemonSets: whole.optional().describe("DaemonSets among those that it matches."),
  }).optional().describe("Workloads that the policy matches, by kind."),
  lastReconciliation: timeSchema.optional().describe("Time of the last evaluation."),
  observedGeneration: whole.optional().describe("The metadata.generation that was looked at."),
  workloads: z.array(workloadStatusSchema).max(MOST_WORKLOADS).optional().describe(
    "The worst first: errors, then what was skipped, then the largest changes. All of them, with " +
      "all their containers, stand in the RecommendationReports of their namespaces.",
  ),
}).describe("What became of it; written by the controller.");

/** The outcome for a workload. */
export type WorkloadStatus = z.infer<typeof workloadStatusSchema>;
/** The status of a policy. */
export type PolicyStatus = z.infer<typeof policyStatusSchema>;
