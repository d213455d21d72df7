/**
 * Policies and reports in the store. A policy's spec is stored as it was read, with its faults: what a
 * definition would refuse can be there all the same, as from before the rule.
 *
 * @module
 */
import type * as z from "zod";
import { ApiError } from "../../shared/api/api_error.ts";
import { policyStatusSchema } from "../../shared/api/policy_status.ts";
import {
  type RecommendationReport,
  recommendationReportSchema,
} from "../../shared/api/recommendation_report.ts";
import type { ApiObject } from "../../shared/api/object.ts";
import type { StoredPolicy } from "../../shared/rightsizing/stored_policy.ts";
import type { KindName, StoredKind } from "./stored_kind.ts";

/** What the schema makes of it; throws an `ApiError` with status 422 that names the fields. */
function admitted<S extends z.ZodType>(
  { kind, metadata }: { readonly kind: KindName; readonly metadata: ApiObject["metadata"] },
  { schema, value }: { readonly schema: S; readonly value: unknown },
): z.output<S> {
  const { data, error } = schema.safeParse(value);
  if (error === undefined) return data as z.output<S>;
  const problems = error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
  throw new ApiError(
    422,
    "Invalid",
    `${kind} "${metadata.name}" is invalid: ${problems.join("; ")}`,
  );
}

/** The rules of policies. */
export const optimizationPolicyKind: StoredKind<StoredPolicy> = {
  kind: "OptimizationPolicy",
  hasGeneration: true,
  withoutStatus: (policy) => ({ ...policy, status: {} }),
  takeSpec: ({ status }, written) => ({ ...written, status }),
  takeStatus: (stored, { status }) => ({ ...stored, status }),
  admit: (policy) => ({
    ...policy,
    status: admitted(
      { kind: "OptimizationPolicy", metadata: policy.metadata },
      { schema: policyStatusSchema, value: policy.status },
    ),
  }),
};

/** The rules of reports; they have no status apart. */
export const recommendationReportKind: StoredKind<RecommendationReport> = {
  kind: "RecommendationReport",
  hasGeneration: false,
  withoutStatus: (report) => report,
  takeSpec: (_stored, written) => written,
  takeStatus: (_stored, written) => written,
  admit: (report) =>
    admitted({ kind: "RecommendationReport", metadata: report.metadata }, {
      schema: recommendationReportSchema,
      value: report,
    }),
};
