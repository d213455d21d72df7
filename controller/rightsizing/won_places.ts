/**
 * Where rightsizing may have something to write.
 *
 * @module
 */
import {
  matchesWorkload,
  type PolicySurroundings,
  type ReadablePolicy,
  type WorkloadView,
} from "../../shared/rightsizing/policy_match.ts";

/**
 * One workload for each namespace and kind of which an enabled policy has any: what the account may do
 * there is to be known.
 */
export function wonPlaces<W extends WorkloadView>(
  workloads: Iterable<W>,
  { policies, ...around }: PolicySurroundings & { readonly policies: readonly ReadablePolicy[] },
): readonly W[] {
  const found = new Map<string, W>();
  for (const workload of workloads) {
    const { kind, metadata: { namespace } } = workload;
    const place = `${namespace}/${kind}`;
    if (found.has(place)) continue;
    if (policies.some((policy) => matchesWorkload(policy, workload, around))) {
      found.set(place, workload);
    }
  }
  return [...found.values()];
}
