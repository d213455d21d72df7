/**
 * Which workloads a policy is for.
 *
 * @module
 */
import type { WorkloadKind } from "../api/workload.ts";
import { type Labels, labelsMatch } from "./label_match.ts";
import type { PolicySelector } from "./policy_spec.ts";

/** A workload, as far as selectors look. */
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
  /** Namespaces whose policies act on all others, from the controller's configuration. */
  readonly policyNamespaces: readonly string[];
}

/**
 * True when a policy may act on workloads of the namespace, whatever its selector says: on its own
 * always, on others only where an administrator has given its namespace that right. Otherwise whoever
 * may write a policy in a namespace could resize the pods of another.
 */
export function reachesNamespace(
  namespace: string,
  { policyNamespace, policyNamespaces }: PolicyReach,
): boolean {
  return namespace === policyNamespace || policyNamespaces.includes(policyNamespace);
}
