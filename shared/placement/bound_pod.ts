/**
 * Pods that must stay where they are.
 *
 * @module
 */
import { type LabelRequirement, type Labels, labelsMatch } from "../api/label_selector.ts";
import { NODE_CLASSES, type NodeClass } from "./node_class.ts";
import { capacityKeys, type NodeClasses, nodeClassOf, selectorOf } from "./node_classes.ts";

/** One expression of a node selector, as `v1.NodeSelectorRequirement`. */
export interface NodeRequirement {
  readonly key: string;
  readonly operator: LabelRequirement["operator"] | "Gt" | "Lt";
  readonly values: readonly string[];
}

/** One term: all its expressions must hold. */
export type NodeTerm = readonly NodeRequirement[];

/** Where a pod's nodes are bounded. */
export interface NodeBounds {
  /** For instance `its volume data`, as the beginning of a sentence. */
  readonly what: string;
  /** One of them is enough: a required node affinity, that of a persistent volume, or a node selector. */
  readonly terms: readonly NodeTerm[];
  /** True of a node selector: what it says of capacity is replaced when the pod is placed, and bounds nothing. */
  readonly selector?: true;
}

/** What of a pod may bind it. */
export interface BindablePod {
  readonly annotations: Labels;
  readonly bounds: readonly NodeBounds[];
}

/** What is known of nodes. */
export interface BoundOptions {
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

/** The bound of a node selector that names a host or a pool; none where it names neither. */
export function selectorBounds(nodeSelector: Labels): readonly NodeBounds[] {
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
export function boundBy(
  { annotations, bounds }: BindablePod,
  options: BoundOptions,
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
  bounds: readonly NodeBounds[],
  options: Omit<BoundOptions, "to">,
): readonly NodeClass[] {
  return NODE_CLASSES.filter((to) =>
    boundBy({ annotations: {}, bounds }, { to, ...options }) === undefined
  );
}

/** True where the bounds name a class by its own labels, whatever hosts and pools they name. */
export function namesClass(bounds: readonly NodeBounds[], classes: NodeClasses): boolean {
  return NODE_CLASSES.some((to) =>
    boundBy({ annotations: {}, bounds }, {
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
function mayBeSent(term: NodeTerm, options: BoundOptions): boolean {
  const keys = capacityKeys(options.classes);
  const kept = term.filter(({ key }) => !keys.has(key));
  return kept.length === 0 || mayHold(kept, options);
}

/** False where the term contradicts the class; terms without expressions match no node. */
function mayHold(term: NodeTerm, { to, classes, nodes }: BoundOptions): boolean {
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
