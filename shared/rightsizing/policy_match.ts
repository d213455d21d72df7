/**
 * Which policies match which workloads, and which of them counts.
 *
 * @module
 */
import { type Labels, labelsMatch } from "../api/label_selector.ts";
import type { RightsizingReason } from "../api/reasons/rightsizing_reasons.ts";
import type { WorkloadKind } from "../api/workload.ts";
import type { PolicySelector, PolicySpec } from "./policy_spec.ts";
import type { WorkloadRecord } from "./workload_record.ts";

/** A workload, as selectors see it. */
export interface WorkloadView {
  readonly kind: WorkloadKind;
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    /** The workload's own, all of them. @default {{}} */
    readonly labels?: Labels;
  };
}

/**
 * True when the selector matches: the kind is one of its own, and namespaceSelector, workloadSelector,
 * `allow` and not `deny` all hold, as far as they are there. `namespaceLabels` undefined: the namespace
 * is not known (yet), and no namespaceSelector holds, not even one that asks for the absence of a label.
 */
export function isInScope(
  { kind, metadata }: WorkloadView,
  { selector, namespaceLabels }: {
    readonly selector: PolicySelector;
    readonly namespaceLabels: Labels | undefined;
  },
): boolean {
  const { namespaceSelector, workloadSelector, namespaces, workloadKinds } = selector;
  const { allow = [], deny = [] } = namespaces ?? {};
  return workloadKinds.includes(kind) &&
    !deny.includes(metadata.namespace) &&
    (allow.length === 0 || allow.includes(metadata.namespace)) &&
    (workloadSelector === undefined || labelsMatch(metadata.labels ?? {}, workloadSelector)) &&
    (namespaceSelector === undefined ||
      namespaceLabels !== undefined && labelsMatch(namespaceLabels, namespaceSelector));
}

/** Namespaces by name, where the policy's own one stands, and which may speak for others. */
export interface PolicyReach {
  readonly policyNamespace: string;
  /** Namespaces with policies that act on all others, from the controller's configuration. */
  readonly policyNamespaces: readonly string[];
}

/**
 * True when a policy may act on workloads of the namespace, whatever its selector says: on its own
 * always, on others only where an administrator has given its namespace that right. Otherwise a user that
 * may write a policy in a namespace could resize the pods of another.
 */
export function reachesNamespace(
  namespace: string,
  { policyNamespace, policyNamespaces }: PolicyReach,
): boolean {
  return namespace === policyNamespace || policyNamespaces.includes(policyNamespace);
}

/** A policy that can be read. */
export interface ReadablePolicy {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec: PolicySpec;
}

/** The policies that can be read. */
export function readablePolicies<P extends { readonly spec?: PolicySpec }>(
  policies: Iterable<P>,
): readonly (P & { readonly spec: PolicySpec })[] {
  return [...policies].filter((one): one is P & { readonly spec: PolicySpec } =>
    one.spec !== undefined
  );
}

/** What matching needs beside policies and workloads. */
export interface PolicyInput {
  /** Labels of namespaces by name. */
  readonly namespaces: Pick<ReadonlyMap<string, Labels>, "get">;
  /** Namespaces with policies that act on all others. */
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
  { policies, ...input }: PolicyInput & { readonly policies: readonly P[] },
): readonly P[] {
  return policies.filter((policy) => matchesWorkload(policy, workload, input))
    .toSorted(firstOfPolicies);
}

/**
 * Of each policy, in the order given, exactly the workloads that it matches, each once, whether it has
 * won them or not. A disabled policy has none.
 */
export function discoverWorkloads<W extends WorkloadView, P extends ReadablePolicy>(
  workloads: Iterable<W>,
  { policies, ...input }: PolicyInput & { readonly policies: readonly P[] },
): ReadonlyMap<P, readonly DiscoveredWorkload<W, P>[]> {
  const found = new Map(policies.map((policy) => [policy, [] as DiscoveredWorkload<W, P>[]]));
  const best = policies.toSorted(firstOfPolicies);
  const seen = new Set<string>();
  for (const workload of workloads) {
    const key = workloadKey(workload);
    if (seen.has(key)) continue;
    seen.add(key);
    const matching = best.filter((policy) => matchesWorkload(policy, workload, input));
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
  { namespaces, policyNamespaces }: PolicyInput,
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

/** What there is beside the policy that changes. */
export interface AffectedPoliciesInput<P extends ReadablePolicy> extends PolicyInput {
  readonly workloads: Iterable<WorkloadView>;
  /** The other ones. */
  readonly policies: readonly P[];
}

/**
 * Those of the other policies that match a workload which the policy matched before, or does now: they
 * may win it by the change, or lose it. `versions`: the policy as it was and as it is, as far as it was
 * there and could be read.
 */
export function affectedPolicies<P extends ReadablePolicy>(
  versions: readonly ReadablePolicy[],
  { workloads, policies, ...input }: AffectedPoliciesInput<P>,
): readonly P[] {
  const concerned = [...workloads].filter((workload) =>
    versions.some((policy) => matchesWorkload(policy, workload, input))
  );
  return policies.filter((policy) =>
    concerned.some((workload) => matchesWorkload(policy, workload, input))
  );
}
