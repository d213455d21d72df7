/**
 * Which policy counts for which workload.
 *
 * @module
 */
import type { RightsizingReason } from "../api/reasons/rightsizing_reasons.ts";
import type { Labels } from "./label_match.ts";
import { isInScope, reachesNamespace, type WorkloadView } from "./policy_scope.ts";
import type { PolicySpec } from "./policy_spec.ts";
import type { WorkloadRecord } from "./workload_record.ts";

/** A policy that can be read. */
export interface ReadablePolicy {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: PolicySpec;
}

/** Those of the policies whose spec can be read. */
export function readablePolicies<P extends { readonly spec?: PolicySpec }>(
  policies: Iterable<P>,
): readonly (P & { readonly spec: PolicySpec })[] {
  return [...policies].filter((one): one is P & { readonly spec: PolicySpec } =>
    one.spec !== undefined
  );
}

/** What policies look at beside workloads. */
export interface PolicySurroundings {
  /** Labels of namespaces by name. */
  readonly namespaces: ReadonlyMap<string, Labels>;
  /** Namespaces whose policies act on all others. */
  readonly policyNamespaces: readonly string[];
}

/** A workload that a policy matches. */
export interface DiscoveredWorkload<W extends WorkloadView, P extends ReadablePolicy> {
  readonly workload: W;
  /** The policy that counts for it; another one than the policy in question has lost it. */
  readonly winner: P;
}

/**
 * The policies that match the workload and are not disabled, the one that counts first: by weight,
 * the highest first, then by namespace and name.
 */
export function policiesFor<P extends ReadablePolicy>(
  workload: WorkloadView,
  { policies, ...surroundings }: PolicySurroundings & { readonly policies: readonly P[] },
): readonly P[] {
  return policies.filter((policy) => matchesWorkload(policy, workload, surroundings))
    .toSorted(firstOfPolicies);
}

/**
 * Of each policy, in the order given, exactly the workloads that it matches, each once, whether it has
 * won them or not. A disabled policy has none.
 */
export function discoverWorkloads<W extends WorkloadView, P extends ReadablePolicy>(
  workloads: Iterable<W>,
  { policies, ...surroundings }: PolicySurroundings & { readonly policies: readonly P[] },
): ReadonlyMap<P, readonly DiscoveredWorkload<W, P>[]> {
  const found = new Map(policies.map((policy) => [policy, [] as DiscoveredWorkload<W, P>[]]));
  const best = policies.toSorted(firstOfPolicies);
  const seen = new Set<string>();
  for (const workload of workloads) {
    const key = workloadKey(workload);
    if (seen.has(key)) continue;
    seen.add(key);
    const matching = best.filter((policy) => matchesWorkload(policy, workload, surroundings));
    const [winner] = matching;
    if (winner === undefined) continue;
    for (const policy of matching) found.get(policy)?.push({ workload, winner });
  }
  return found;
}

/** What the status of a policy says of a workload that another one has won. */
export function outweighedRecord<P extends ReadablePolicy>(
  { workload, winner }: DiscoveredWorkload<WorkloadView, P>,
): WorkloadRecord {
  const { namespace, name } = winner.metadata;
  const reason: RightsizingReason = "Outweighed";
  return {
    workload: {
      kind: workload.kind,
      namespace: workload.metadata.namespace,
      name: workload.metadata.name,
    },
    policy: { namespace, name },
    status: "Skipped",
    reason,
    message: `policy ${namespace}/${name} of weight ${winner.spec.weight} counts for the workload`,
    recommendations: [],
    inForce: [],
  };
}

/** `kind/namespace/name`: no part holds a slash. */
export function workloadKey({ kind, metadata }: WorkloadView): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

/** Whether the policy is for the workload. One that is disabled is for none. */
export function matchesWorkload(
  { metadata, spec }: ReadablePolicy,
  workload: WorkloadView,
  { namespaces, policyNamespaces }: PolicySurroundings,
): boolean {
  const { namespace } = workload.metadata;
  return spec.mode !== "Disabled" &&
    reachesNamespace(namespace, { policyNamespace: metadata.namespace, policyNamespaces }) &&
    isInScope(workload, {
      selector: spec.selector,
      namespaceLabels: namespaces.get(namespace),
    });
}

/** Not by `namespace/name` as one text: `-` sorts before `/`. */
function firstOfPolicies(a: ReadablePolicy, b: ReadablePolicy): number {
  return b.spec.weight - a.spec.weight ||
    order(a.metadata.namespace, b.metadata.namespace) ||
    order(a.metadata.name, b.metadata.name);
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
