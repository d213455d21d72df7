/**
 * `RecommendationReport` (`optipod.io/v1alpha1`): all workloads of a namespace that a policy looks at,
 * with all their containers. A namespace has as many of them as its workloads fill; read by
 * `kubectl coalloc recommend`.
 *
 * @module
 */
import * as z from "zod";
import type { ApiObject } from "../control/list_watch.ts";
import { OPTIPOD_GROUP_VERSION } from "./optimization_policy.ts";
import { containerAdviceSchema, MOST_CONTAINERS, workloadStatusSchema } from "./policy_status.ts";

/** Values of a container that were adopted; what is absent was left as it was. */
export const containerValuesSchema = containerAdviceSchema.omit({ explanation: true }).partial({
  cpu: true,
  memory: true,
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
    description: "Workloads, by kind and name. One with more containers than an entry or an " +
      "object holds has several entries.",
    // As a whole: the server would keep a record of each field of each workload otherwise.
    "x-kubernetes-list-type": "atomic",
  }),
});

/** Values in force. */
export type WrittenValues = z.infer<typeof containerValuesSchema>;
/** A workload in a report. */
export type ReportedWorkload = z.infer<typeof reportedWorkloadSchema>;
/** The whole object. */
export type RecommendationReport = z.infer<typeof recommendationReportSchema> & ApiObject;
