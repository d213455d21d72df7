/**
 * Which changes of a policy need a new cycle, of this policy and of others.
 *
 * @module
 */
import type { Informer } from "../../../shared/control/informer.ts";
import {
  policyNeighbours,
  type PolicySurroundings,
  readablePolicies,
  type WorkloadView,
} from "../../../shared/rightsizing/policy_match.ts";
import type { StoredPolicy } from "../../../shared/rightsizing/policy_spec.ts";

/** What tells it. */
export interface PolicyNewsParts {
  readonly policies: Pick<Informer<StoredPolicy>, "get" | "all">;
  readonly workloads: () => Iterable<WorkloadView>;
  readonly surroundings: () => PolicySurroundings;
}

/** What has become of policies since they were last looked at here. */
export interface PolicyNews {
  /** False where only status or labels have changed, if anything has; then all is as it was. */
  hear(key: string): boolean;
  /**
   * Others, by key, that may win a workload by what was heard last of this one, or lose it. Nobody else
   * is to be woken: one tenant's edits must not cost the others anything.
   */
  neighbours(key: string): readonly string[];
}

interface Heard {
  readonly before: StoredPolicy | undefined;
  readonly now: StoredPolicy | undefined;
}

/** Nothing was heard of any policy. */
export function createPolicyNews(parts: PolicyNewsParts): PolicyNews {
  const { policies, workloads, surroundings } = parts;
  const heard = new Map<string, Heard>();
  return {
    hear(key) {
      const [before, now] = [heard.get(key)?.now, policies.get(key)];
      if (before !== undefined && now !== undefined && isSame(before, now)) return false;
      heard.set(key, { before, now });
      return true;
    },
    neighbours(key) {
      const { before, now } = heard.get(key) ?? {};
      // Of one that is gone nothing is left to be heard.
      if (now === undefined) heard.delete(key);
      const others = readablePolicies(policies.all()).filter((one) => keyOf(one) !== key);
      const versions = [before, now].filter((one) => one !== undefined);
      return policyNeighbours(readablePolicies(versions), {
        ...surroundings(),
        workloads: workloads(),
        policies: others,
      }).map(keyOf);
    },
  };
}

function isSame({ metadata: one }: StoredPolicy, { metadata: other }: StoredPolicy): boolean {
  return one.uid === other.uid && one.generation === other.generation;
}

function keyOf({ metadata: { namespace, name } }: Pick<StoredPolicy, "metadata">): string {
  return `${namespace}/${name}`;
}
