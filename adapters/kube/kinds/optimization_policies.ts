/**
 * OptimizationPolicies and RecommendationReports on a real API server.
 *
 * @module
 */
import { faultText } from "../../../shared/api/fields.ts";
import { OPTIPOD_GROUP_VERSION } from "../../../shared/api/optimization_policy.ts";
import type { RecommendationReport } from "../../../shared/api/recommendation_report.ts";
import type { PolicyStatus } from "../../../shared/api/policy_status.ts";
import type { ListWatch } from "../../../shared/control/informer.ts";
import {
  type PolicyDefaults,
  readPolicySpec,
  type StoredPolicy,
} from "../../../shared/rightsizing/policy_spec.ts";
import type { KubeConnection } from "../client/connection.ts";
import { listWatchOf, type ListWatchOptions, type OpenListWatch } from "../client/list_watch.ts";
import { mapOf, parseNamespacedIdentity } from "./object_fields.ts";

/** Group, version and plural of policies. */
export const POLICIES = {
  groupVersion: OPTIPOD_GROUP_VERSION,
  resource: "optimizationpolicies",
} as const;

/** Group, version and plural of reports. */
export const REPORTS = {
  groupVersion: OPTIPOD_GROUP_VERSION,
  resource: "recommendationreports",
} as const;

/** List-watch of policies, those with faults in their spec among them. */
export function optimizationPolicyListWatch(
  connection: KubeConnection,
  { provider, ...options }: ListWatchOptions & PolicyDefaults = {},
): ListWatch<StoredPolicy> {
  const defaults = provider === undefined ? {} : { provider };
  const parse = (raw: unknown): StoredPolicy => parseOptimizationPolicy(raw, defaults);
  return listWatchOf({ ...POLICIES, parse })(connection, options);
}

/** Reads a policy, or the faults of its spec: rules that no schema can express. */
export function parseOptimizationPolicy(
  raw: unknown,
  defaults: PolicyDefaults = {},
): StoredPolicy {
  const { metadata: { generation = 0 }, spec, status = {} } = raw as {
    readonly metadata: { readonly generation?: number };
    readonly spec?: unknown;
    readonly status?: PolicyStatus;
  };
  const reading = readPolicySpec(spec, defaults);
  return {
    metadata: { ...parseNamespacedIdentity(raw), generation },
    ...reading,
    status,
    ...(reading.faults.length === 0 ? {} : {
      unreadable: `Cannot read OptimizationPolicy: ${reading.faults.map(faultText).join("; ")}`,
    }),
  };
}

/** List-watch of reports. */
export const recommendationReportListWatch: OpenListWatch<RecommendationReport> = listWatchOf({
  ...REPORTS,
  parse: parseRecommendationReport,
});

/** Reads a report. */
export function parseRecommendationReport(raw: unknown): RecommendationReport {
  const { metadata: { labels }, workloads } = raw as RecommendationReport;
  return {
    apiVersion: OPTIPOD_GROUP_VERSION,
    kind: "RecommendationReport",
    metadata: { ...parseNamespacedIdentity(raw), ...mapOf("labels", labels) },
    workloads,
  };
}
