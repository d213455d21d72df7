/**
 * Which policies match a workload, and which one of them wins it.
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

/** A policy; the spec is absent if it can't be read. */
export interface MatchedPolicy {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec?: PolicySpec;
}

/** A policy that can be read. */
export interface ReadablePolicy extends MatchedPolicy {
  readonly spec: PolicySpec;
}

/** The input of matching beside policies and workloads. */
export interface PolicyInput {
  /** Labels of namespaces by name. */
  readonly namespaces: Pick<ReadonlyMap<string, Labels>, "get">;
  /** Namespaces with policies that act on all others. */
  readonly policyNamespaces: readonly string[];
}

/**
 * True when each part of the selector that is set matches the workload. `namespaceLabels` undefined: the
 * namespace is not known (yet), and no namespaceSelector matches, not even one for the absence of a label.
 */
export function isInScope(
  { kind, metadata: { namespace, labels = {} } }: WorkloadView,
  { selector, namespaceLabels }: {
    readonly selector: PolicySelector;
    readonly namespaceLabels: Labels | undefined;
  },
): boolean {
  const { namespaceSelector, workloadSelector, workloadKinds } = selector;
  const { allow, deny } = selector.namespaces ?? { allow: [], deny: [] };
  return workloadKinds.includes(kind) && !deny.includes(namespace) &&
    (allow.length === 0 || allow.includes(namespace)) &&
    (workloadSelector === undefined || labelsMatch(labels, workloadSelector)) &&
    (namespaceSelector === undefined ||
      namespaceLabels !== undefined && labelsMatch(namespaceLabels, namespaceSelector));
}

/** The namespaces that a policy may act on. */
export interface PolicyReach {
  readonly policyNamespace: string;
  /** Namespaces with policies that act on all others, from the controller's configuration. */
  readonly policyNamespaces: readonly string[];
}

/**
 * True when a policy may act on workloads of the namespace, whatever its selector says: always in the
 * policy's namespace, in others only if the controller's configuration allows it. Otherwise a user that may
 * write a policy in one namespace could resize the pods of another.
 */
export function reachesNamespace(
  namespace: string,
  { policyNamespace, policyNamespaces }: PolicyReach,
): boolean {
  return namespace === policyNamespace || policyNamespaces.includes(policyNamespace);
}

/** True if the policy matches the workload. A policy that is disabled or can't be read matches none. */
export function matchesWorkload(
  { metadata, spec }: MatchedPolicy,
  workload: WorkloadView,
  { namespaces, policyNamespaces }: PolicyInput,
): boolean {
  const { namespace } = workload.metadata;
  return spec !== undefined && spec.mode !== "Disabled" &&
    reachesNamespace(namespace, { policyNamespace: metadata.namespace, policyNamespaces }) &&
    isInScope(workload, { selector: spec.selector, namespaceLabels: namespaces.get(namespace) });
}

/**
 * The policy that wins the workload: of those that match it the one with the highest weight, then the first
 * by namespace and name. Undefined where none matches.
 */
export function policyFor<P extends MatchedPolicy>(
  workload: WorkloadView,
  { policies, ...input }: PolicyInput & { readonly policies: Iterable<P> },
): (P & ReadablePolicy) | undefined {
  const [winner] = [...policies]
    .filter((one): one is P & ReadablePolicy => matchesWorkload(one, workload, input))
    // Not by `namespace/name` as one text: `-` sorts before `/`.
    .toSorted((a, b) =>
      b.spec.weight - a.spec.weight ||
      order(a.metadata.namespace, b.metadata.namespace) || order(a.metadata.name, b.metadata.name)
    );
  return winner;
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The record in a policy's status for a workload that another policy wins. */
export function outweighedRecord(
  { kind, metadata: { namespace, name } }: WorkloadView,
  winner: ReadablePolicy,
): WorkloadRecord {
  const { metadata: policy, spec: { weight } } = winner;
  const reason: RightsizingReason = "Outweighed";
  return {
    workload: { kind, namespace, name },
    policy: { namespace: policy.namespace, name: policy.name },
    status: "Skipped",
    reason,
    message:
      `policy ${policy.namespace}/${policy.name} of weight ${weight} counts for the workload`,
    recommendations: [],
    inForce: [],
  };
}

/** `kind/namespace/name`: no part holds a slash. */
export function workloadKey({ kind, metadata }: WorkloadView): string {
  return `${kind}/${metadata.namespace}/${metadata.name}`;
}

/**
 * The other policies that may win or lose a workload by the change of one policy: they match a workload that
 * the changed policy matched before, or matches now. `versions`: the changed policy before and after, as far
 * as it existed.
 */
export function affectedPolicies<P extends MatchedPolicy>(
  versions: readonly MatchedPolicy[],
  { workloads, policies, ...input }: PolicyInput & {
    readonly workloads: Iterable<WorkloadView>;
    /** Without the changed one. */
    readonly policies: readonly P[];
  },
): readonly P[] {
  const concerned = [...workloads].filter((workload) =>
    versions.some((policy) => matchesWorkload(policy, workload, input))
  );
  return policies.filter((policy) =>
    concerned.some((workload) => matchesWorkload(policy, workload, input))
  );
}
