/**
 * Whom a policy's change concerns beside itself.
 *
 * @module
 */
import { matchesWorkload, type PolicySurroundings, type ReadablePolicy } from "./policy_choice.ts";
import type { WorkloadView } from "./policy_scope.ts";

/** What there is beside the policy that changes. */
export interface Neighbourhood<P extends ReadablePolicy> extends PolicySurroundings {
  readonly workloads: Iterable<WorkloadView>;
  /** The other ones. */
  readonly policies: readonly P[];
}

/**
 * Those of the other policies that match a workload which the policy matched before, or does now: they
 * may win it by the change, or lose it. `versions`: the policy as it was and as it is, as far as it was
 * there and could be read.
 */
export function policyNeighbours<P extends ReadablePolicy>(
  versions: readonly ReadablePolicy[],
  { workloads, policies, ...surroundings }: Neighbourhood<P>,
): readonly P[] {
  const concerned = [...workloads].filter((workload) =>
    versions.some((policy) => matchesWorkload(policy, workload, surroundings))
  );
  return policies.filter((policy) =>
    concerned.some((workload) => matchesWorkload(policy, workload, surroundings))
  );
}
