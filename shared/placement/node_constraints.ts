/**
 * Pods that must stay where they are.
 *
 * @module
 */
import { type Labels, labelsMatch } from "../rightsizing/label_match.ts";
import type { LabelRequirement } from "../rightsizing/policy_spec.ts";
import {
  capacityKeys,
  NODE_CLASSES,
  type NodeClass,
  type NodeClasses,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";
import type { Node } from "../api/node.ts";
import type { PersistentVolume } from "../api/persistent_volume.ts";
import type { SentObject } from "../admission/admission_review.ts";
import { isMembers, membersOf, textIn, textsIn } from "../admission/sent_members.ts";

/** One expression of a node selector, as `v1.NodeSelectorRequirement`. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: LabelRequirement["operator"] | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** One term: all its expressions must hold. */
export type NodeTerm = readonly NodeRequirement[];

/** Where a pod's nodes are bounded. */
export interface NodeConstraint {
  /** For instance `its volume data`, as the beginning of a sentence. */
  readonly what: string;
  /** One of them is enough: a required node affinity, that of a persistent volume, or a node selector. */
  readonly terms: readonly NodeTerm[];
  /** True of a node selector: what it says of capacity is replaced when the pod is placed, and bounds nothing. */
  readonly selector?: true;
}

/** What of a pod may bind it. */
export interface PinnablePod {
  readonly annotations: Labels;
  readonly bounds: readonly NodeConstraint[];
}

/** What is known of nodes. */
export interface PinOptions {
  /** The class that it would move to. */
  readonly to: NodeClass;
  readonly classes: NodeClasses;
  readonly nodes: KnownNodes;
}

/** Of which classes the nodes are that there are. */
export interface KnownNodes {
  /** By its label {@linkcode HOSTNAME} or its name; undefined where there is none, or nobody can be sent there. */
  hostClass(host: string): NodeClass | undefined;
  /** Of all nodes with this label; undefined where there are none, or of both classes. */
  poolClass(key: string, value: string): NodeClass | undefined;
}

/** The label by which nodes are told apart. */
export const HOSTNAME = "kubernetes.io/hostname";

/**
 * Labels of groups whose nodes are all of one class: EKS' managed node groups, GKE's and AKS' node pools.
 * Karpenter's pools may have both. Sources: EKS "Managed node group capacity types", GKE "Spot VMs", AKS
 * "Add a spot node pool".
 */
const POOLS: readonly string[] = [
  "eks.amazonaws.com/nodegroup",
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "agentpool",
];

/** The pinned of a node selector that names a host or a pool; none where it names neither. */
export function selectorConstraints(nodeSelector: Labels): readonly NodeConstraint[] {
  const named = [HOSTNAME, ...POOLS].flatMap((key): NodeTerm => {
    const value = nodeSelector[key];
    return value === undefined ? [] : [{ key, operator: "In", values: [value] }];
  });
  return named.length === 0 ? [] : [{ what: "its node selector", terms: [named], selector: true }];
}

/** Annotations by which users keep node autoscalers from a pod; we ask no less of ourselves. */
const PROTECTIONS = [
  ["karpenter.sh/do-not-disrupt", "true"],
  ["cluster-autoscaler.kubernetes.io/safe-to-evict", "false"],
] as const;

/**
 * Why the pod must not be moved to the class, in a sentence; undefined where nothing speaks against it.
 * Only what contradicts the class counts: whether there is such a node in the zone of a volume is the
 * scheduler's matter, and a node autoscaler's.
 */
export function pinnedBy(
  { annotations, bounds }: PinnablePod,
  options: PinOptions,
): string | undefined {
  const protection = protectedBy(annotations);
  if (protection !== undefined) return protection;
  const binding = bounds.find(({ selector, terms }) =>
    !terms.some((term) => selector ? mayBeSent(term, options) : mayHold(term, options))
  );
  return binding && `${binding.what} allows no ${options.to} node`;
}

/** Classes of which the bounds allow a node, as far as the nodes are known. */
export function allowedClasses(
  bounds: readonly NodeConstraint[],
  options: Omit<PinOptions, "to">,
): readonly NodeClass[] {
  return NODE_CLASSES.filter((to) =>
    pinnedBy({ annotations: {}, bounds }, { to, ...options }) === undefined
  );
}

/** True where the bounds name a class by its own labels, whatever hosts and pools they name. */
export function namesClass(bounds: readonly NodeConstraint[], classes: NodeClasses): boolean {
  return NODE_CLASSES.some((to) =>
    pinnedBy({ annotations: {}, bounds }, {
      to,
      classes,
      nodes: { hostClass: () => to, poolClass: () => to },
    }) !== undefined
  );
}

/** The annotation by which its user keeps the pod from being evicted at all; undefined where none does. */
export function protectedBy(annotations: Labels): string | undefined {
  const found = PROTECTIONS.find(([key, value]) => annotations[key] === value);
  return found && `annotation ${found[0]} is "${found[1]}"`;
}

/** False where a node selector contradicts the class by more than what is replaced. */
function mayBeSent(term: NodeTerm, options: PinOptions): boolean {
  const keys = capacityKeys(options.classes);
  const kept = term.filter(({ key }) => !keys.has(key));
  return kept.length === 0 || mayHold(kept, options);
}

/** False where the term contradicts the class; terms without expressions match no node. */
function mayHold(term: NodeTerm, { to, classes, nodes }: PinOptions): boolean {
  const given = selectorOf(to, classes);
  const keys = capacityKeys(classes);
  return term.length > 0 && term.every((one) => {
    if (one.key === HOSTNAME && one.operator === "In") {
      return one.values.some((host) => nodes.hostClass(host) === to);
    }
    if (POOLS.includes(one.key) && one.operator === "In" && !keys.has(one.key)) {
      // A pool that is empty now may get nodes of either class.
      return one.values.some((pool) => (nodes.poolClass(one.key, pool) ?? to) === to);
    }
    if (!keys.has(one.key) || !isSelectable(one)) return true;
    if (Object.hasOwn(given, one.key)) return holdsFor(given, one);
    // Nodes of the class may have the label or not, as long as that leaves them in the class.
    const values = one.operator === "In" ? one.values : knownValues(one.key, classes);
    const possible = [given, ...values.map((value) => ({ ...given, [one.key]: value }))];
    return possible.some((labels) => nodeClassOf(labels, classes) === to && holdsFor(labels, one));
  });
}

function isSelectable(one: NodeRequirement): one is LabelRequirement {
  return one.operator !== "Gt" && one.operator !== "Lt";
}

function holdsFor(labels: Labels, one: LabelRequirement): boolean {
  return labelsMatch(labels, { matchLabels: {}, matchExpressions: [one] });
}

/** Values that the setting has for the key. */
function knownValues(key: string, { spot, "on-demand": onDemand }: NodeClasses): readonly string[] {
  return [...spot.selectors, ...onDemand.selectors].flatMap(({ matchLabels, matchExpressions }) => [
    ...Object.entries(matchLabels).flatMap(([one, value]) => one === key ? [value] : []),
    ...matchExpressions.flatMap((one) => one.key === key ? one.values : []),
  ]);
}

/**
 * Classes of the nodes that there are, found as they are asked for: few pods name a host or a pool. A node that
 * counts for a class, but to which the selector of that class sends nobody, is none of either.
 */
export function knownNodes(
  nodes: () => Iterable<Pick<Node, "metadata" | "labels">>,
  classes: NodeClasses,
): KnownNodes {
  function sentClass(labels: Labels): NodeClass | undefined {
    const found = nodeClassOf(labels, classes);
    const sent = { matchLabels: selectorOf(found, classes), matchExpressions: [] };
    return labelsMatch(labels, sent) ? found : undefined;
  }

  return {
    hostClass(host) {
      for (const { metadata: { name }, labels = {} } of nodes()) {
        if (name === host || labels[HOSTNAME] === host) return sentClass(labels);
      }
      return undefined;
    },
    poolClass(key, value) {
      const found = new Set<NodeClass | undefined>();
      for (const { labels = {} } of nodes()) {
        if (labels[key] === value) found.add(sentClass(labels));
      }
      return found.size === 1 ? [...found][0] : undefined;
    },
  };
}

/** A pod, as far as it has volumes. */
export interface ClaimingPod {
  readonly namespace: string;
  /** Names of its claims. */
  readonly claims: readonly string[];
}

/**
 * The bounds of those volumes that there are. A claim without one, as most are until their first pod has
 * found a node, bounds nothing.
 */
export function volumeConstraints(
  { namespace, claims }: ClaimingPod,
  volumesOf: (claim: string) => readonly PersistentVolume[],
): readonly NodeConstraint[] {
  return claims.flatMap((claim) =>
    volumesOf(`${namespace}/${claim}`).flatMap(({ nodes }): readonly NodeConstraint[] =>
      nodes === undefined ? [] : [{ what: `its volume ${claim}`, terms: nodes }]
    )
  );
}

const OPERATORS: readonly NodeRequirement["operator"][] = [
  "In",
  "NotIn",
  "Exists",
  "DoesNotExist",
  "Gt",
  "Lt",
];

/** The host or pool that its node selector names, and the required node affinity; none where the pod has neither. */
export function sentNodeConstraints({ spec }: SentObject): readonly NodeConstraint[] {
  const { affinity, nodeSelector } = membersOf(spec);
  const named = selectorConstraints(textsIn(nodeSelector));
  const { nodeAffinity } = membersOf(affinity);
  const required = membersOf(nodeAffinity)["requiredDuringSchedulingIgnoredDuringExecution"];
  if (!isMembers(required)) return named;
  const terms = listIn(required["nodeSelectorTerms"]).map(termOf);
  return [...named, { what: "its node affinity", terms }];
}

function termOf(raw: unknown): NodeTerm {
  const { matchExpressions, matchFields } = membersOf(raw);
  const requirements = [
    ...listIn(matchExpressions).map(membersOf),
    // The one field that terms may name, a node's name, stands for its host.
    ...listIn(matchFields).map((one) => ({ ...membersOf(one), key: HOSTNAME })),
  ];
  return requirements.flatMap(({ key, operator, values }: SentObject) => {
    const known = OPERATORS.find((word) => word === operator);
    if (known === undefined) return [];
    return [{
      key: textIn(key) ?? "",
      operator: known,
      values: listIn(values).filter((value) => typeof value === "string"),
    }];
  });
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
