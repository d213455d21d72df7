/**
 * Which changes of a policy need a new cycle, of this policy and of others.
 *
 * @module
 */
import { objectKey } from "../../../shared/control/object_key.ts";
import type { Informer } from "../../../shared/control/informer.ts";
import {
  affectedPolicies,
  type PolicyInput,
  readablePolicies,
  type WorkloadView,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";

/** Where policies and workloads are read. */
export interface PolicyChangesParts {
  readonly policies: Pick<Informer<StoredPolicy>, "get" | "all">;
  readonly workloads: () => Iterable<WorkloadView>;
  readonly input: () => PolicyInput;
}

/** Changes of policies, each against the version of the call before. */
export interface PolicyChanges {
  /** False where at most the status or labels of the policy have changed. */
  hasChanged(key: string): boolean;
  /** Other policies, by key, that may win or lose a workload by the last change of this one. */
  affected(key: string): readonly string[];
}

interface Versions {
  readonly before: StoredPolicy | undefined;
  readonly now: StoredPolicy | undefined;
}

/** No version of any policy is known. */
export function trackPolicyChanges(parts: PolicyChangesParts): PolicyChanges {
  const { policies, workloads, input } = parts;
  const known = new Map<string, Versions>();
  return {
    hasChanged(key) {
      const [before, now] = [known.get(key)?.now, policies.get(key)];
      if (before !== undefined && now !== undefined && isSame(before, now)) return false;
      known.set(key, { before, now });
      return true;
    },
    affected(key) {
      const { before, now } = known.get(key) ?? {};
      // The policy is gone.
      if (now === undefined) known.delete(key);
      const others = readablePolicies(policies.all()).filter((one) =>
        objectKey(one.metadata) !== key
      );
      const versions = [before, now].filter((one) => one !== undefined);
      return affectedPolicies(readablePolicies(versions), {
        ...input(),
        workloads: workloads(),
        policies: others,
      }).map(({ metadata }) => objectKey(metadata));
    },
  };
}

function isSame({ metadata: one }: StoredPolicy, { metadata: other }: StoredPolicy): boolean {
  return one.uid === other.uid && one.generation === other.generation;
}
