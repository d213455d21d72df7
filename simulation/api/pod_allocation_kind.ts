/**
 * Allocations in the store: validated by their schema, with an identity that never changes.
 *
 * @module
 */
import { ApiError } from "../../shared/api/api_error.ts";
import { type PodAllocation, podAllocationSchema } from "../../shared/api/pod_allocation.ts";
import type { StoredKind } from "./stored_kind.ts";

const IDENTITY = ["podName", "podUID", "nodeName", "namespace"] as const;

function invalid(allocation: PodAllocation, problem: string): ApiError {
  const { name } = allocation.metadata;
  return new ApiError(422, "Invalid", `PodAllocation "${name}" is invalid: ${problem}`);
}

/** Fields that the schema does not know are dropped, as a structural schema prunes them. */
function admit(allocation: PodAllocation, before: PodAllocation | undefined): PodAllocation {
  const parsed = podAllocationSchema.safeParse(allocation);
  if (!parsed.success) {
    const problems = parsed.error.issues.map((issue) =>
      `${issue.path.join(".")}: ${issue.message}`
    );
    throw invalid(allocation, problems.join("; "));
  }
  if (before !== undefined) {
    for (const field of IDENTITY) {
      if (parsed.data.spec[field] !== before.spec[field]) {
        throw invalid(allocation, `spec.${field}: Invalid value: field is immutable`);
      }
    }
  }
  return parsed.data;
}

/** The rules of allocations. */
export const podAllocationKind: StoredKind<PodAllocation> = {
  kind: "PodAllocation",
  hasGeneration: true,
  withoutStatus: ({ status: _status, ...rest }) => rest,
  takeSpec({ status }, { status: _status, ...rest }) {
    return { ...rest, ...(status === undefined ? {} : { status }) };
  },
  takeStatus({ status: _status, ...rest }, { status }) {
    return { ...rest, ...(status === undefined ? {} : { status }) };
  },
  admit,
  nodeName: (allocation) => allocation.spec.nodeName,
};
