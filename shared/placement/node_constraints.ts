/**
 * Reasons why a pod must stay where it is: selectors, affinity and volumes that allow certain nodes, and
 * annotations and budgets that forbid an eviction.
 *
 * @module
 */
import {
  HOSTNAME,
  type Node,
  type NodeRequirement,
  type NodeTerm,
  type PersistentVolume,
} from "../api/node.ts";
import { type LabelRequirement, type Labels, labelsMatch } from "../api/label_selector.ts";
import type { Pod } from "../api/pod.ts";
import type { PodDisruptionBudget } from "../api/pod_disruption_budget.ts";
import {
  capacityKeys,
  NODE_CLASSES,
  type NodeClass,
  type NodeClasses,
  nodeClassOf,
  selectorOf,
} from "./node_classes.ts";

/** A constraint on the nodes of a pod. */
export interface NodeConstraint {
  /** The subject of a sentence, for instance `its volume data`. */
  readonly what: string;
  /** Terms of a required affinity, a persistent volume or a node selector; one of them must hold. */
  readonly terms: readonly NodeTerm[];
  /** True for a node selector: placement replaces its capacity labels. */
  readonly selector?: true;
}

/** The class and the nodes to check constraints against. */
export interface PinOptions {
  /** The class that the pod would move to. */
  readonly to: NodeClass;
  readonly classes: NodeClasses;
  readonly nodes: KnownNodes;
}

/** The classes of existing nodes. */
export interface KnownNodes {
  /** By label {@linkcode HOSTNAME} or name; undefined if there is none, or no pod can be sent there. */
  hostClass(host: string): NodeClass | undefined;
  /** The class of all nodes with this label; undefined if there are none, or of both classes. */
  poolClass(key: string, value: string): NodeClass | undefined;
}

/**
 * Labels of node groups of one class: EKS' managed node groups, GKE's and AKS' node pools.
 * Karpenter's pools may have both. Sources: EKS "Managed node group capacity types", GKE "Spot VMs", AKS
 * "Add a spot node pool".
 */
const POOLS: readonly string[] = [
  "eks.amazonaws.com/nodegroup",
  "cloud.google.com/gke-nodepool",
  "kubernetes.azure.com/agentpool",
  "agentpool",
];

/** Annotations by which users protect pods from node autoscalers, and from placement. */
const PROTECTIONS = [
  ["karpenter.sh/do-not-disrupt", "true"],
  ["cluster-autoscaler.kubernetes.io/safe-to-evict", "false"],
] as const;

/** The annotation that protects the pod from evictions; undefined if none does. */
export function protectedBy(annotations: Labels): string | undefined {
  const found = PROTECTIONS.find(([key, value]) => annotations[key] === value);
  return found && `annotation ${found[0]} is "${found[1]}"`;
}

/**
 * The constraint because of which a pod can't move to the class, in a sentence; undefined if it can. Only
 * constraints that contradict the class count: whether a zone has such a node is up to the scheduler and the
 * autoscaler.
 */
export function pinnedBy(
  constraints: readonly NodeConstraint[],
  options: PinOptions,
): string | undefined {
  const keys = capacityKeys(options.classes);
  const found = constraints.find(({ selector, terms }) =>
    !terms.some((term) => {
      const remaining = selector ? term.filter(({ key }) => !keys.has(key)) : term;
      return (selector && remaining.length === 0) || mayHold(remaining, options);
    })
  );
  return found && `${found.what} allows no ${options.to} node`;
}

/** Classes of existing nodes that the constraints allow. */
export function allowedClasses(
  constraints: readonly NodeConstraint[],
  options: Omit<PinOptions, "to">,
): readonly NodeClass[] {
  return NODE_CLASSES.filter((to) => pinnedBy(constraints, { ...options, to }) === undefined);
}

/** True if the constraints name a class by its own labels, whatever hosts and pools they name. */
export function namesClass(
  constraints: readonly NodeConstraint[],
  classes: NodeClasses,
): boolean {
  return NODE_CLASSES.some((to) => {
    const nodes = { hostClass: () => to, poolClass: () => to };
    return pinnedBy(constraints, { to, classes, nodes }) !== undefined;
  });
}

/** False if the term contradicts the class; terms without expressions match no node. */
function mayHold(term: NodeTerm, { to, classes, nodes }: PinOptions): boolean {
  const classLabels = selectorOf(to, classes);
  const keys = capacityKeys(classes);
  return term.length > 0 && term.every((one) => {
    if (one.key === HOSTNAME && one.operator === "In") {
      return one.values.some((host) => nodes.hostClass(host) === to);
    }
    if (POOLS.includes(one.key) && one.operator === "In" && !keys.has(one.key)) {
      // An empty pool may get nodes of either class.
      return one.values.some((pool) => (nodes.poolClass(one.key, pool) ?? to) === to);
    }
    if (!keys.has(one.key) || !isSelectable(one)) return true;
    if (Object.hasOwn(classLabels, one.key)) return holdsFor(classLabels, one);
    // Nodes of the class may have the label or not, as long as they stay in the class.
    const values = one.operator === "In" ? one.values : knownValues(one.key, classes);
    const possible = [
      classLabels,
      ...values.map((value) => ({ ...classLabels, [one.key]: value })),
    ];
    return possible.some((labels) => nodeClassOf(labels, classes) === to && holdsFor(labels, one));
  });
}

function isSelectable(one: NodeRequirement): one is LabelRequirement {
  return one.operator !== "Gt" && one.operator !== "Lt";
}

function holdsFor(labels: Labels, one: LabelRequirement): boolean {
  return labelsMatch(labels, { matchLabels: {}, matchExpressions: [one] });
}

/** Values of the key in the setting. */
function knownValues(key: string, { spot, "on-demand": onDemand }: NodeClasses): readonly string[] {
  return [...spot.selectors, ...onDemand.selectors].flatMap(({ matchLabels, matchExpressions }) => [
    ...Object.entries(matchLabels).flatMap(([one, value]) => one === key ? [value] : []),
    ...matchExpressions.flatMap((one) => one.key === key ? one.values : []),
  ]);
}

/**
 * The classes of these nodes, computed on demand as few pods name a host or a pool. A node that does not match the
 * selector of its class has none, as no pod can be sent there.
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

/** The constraint of a node selector that names a host or a pool. */
export function selectorConstraints(nodeSelector: Labels): readonly NodeConstraint[] {
  const named = [HOSTNAME, ...POOLS].flatMap((key): NodeTerm => {
    const value = nodeSelector[key];
    return value === undefined ? [] : [{ key, operator: "In", values: [value] }];
  });
  return named.length === 0 ? [] : [{ what: "its node selector", terms: [named], selector: true }];
}

/**
 * Constraints of the volumes of these claims. A claim without a volume constrains nothing; most claims are bound
 * once their first pod has a node.
 */
export function volumeConstraints(
  { namespace, claims }: { readonly namespace: string; readonly claims: readonly string[] },
  volumesOf: (claim: string) => readonly PersistentVolume[],
): readonly NodeConstraint[] {
  return claims.flatMap((claim) =>
    volumesOf(`${namespace}/${claim}`).flatMap(({ nodes }): readonly NodeConstraint[] =>
      nodes === undefined ? [] : [{ what: `its volume ${claim}`, terms: nodes }]
    )
  );
}

/** Constraints of a pod's node selector and its required node affinity. */
export function podConstraints(
  { nodeSelector = {}, requiredNodes }: Pick<Pod, "nodeSelector" | "requiredNodes">,
): readonly NodeConstraint[] {
  return [
    ...selectorConstraints(nodeSelector),
    ...(requiredNodes === undefined ? [] : [{ what: "its affinity", terms: requiredNodes }]),
  ];
}

/** The budgets that select these labels. */
export function budgetsFor(
  labels: Labels,
  budgets: readonly PodDisruptionBudget[],
): readonly PodDisruptionBudget[] {
  return budgets.filter(({ selector }) => selector !== undefined && labelsMatch(labels, selector));
}

/**
 * Why the server would refuse to evict a pod with these budgets, in a sentence; undefined if it would not. It
 * refuses pods with several budgets, whatever these allow.
 */
export function budgetRefusal(
  budgets: readonly PodDisruptionBudget[],
  ready: boolean,
): string | undefined {
  const [budget, second] = budgets;
  if (budget === undefined) return undefined;
  if (second !== undefined) {
    const names = budgets.map(({ metadata }) => metadata.name).join(", ");
    return `budgets ${names} are for the same pod, which can't be evicted`;
  }
  const { metadata: { name }, current, disruptionsAllowed, freesUnready } = budget;
  if (!current) return `budget ${name} has changed and is not counted yet`;
  if (disruptionsAllowed > 0 || (!ready && freesUnready)) return undefined;
  return `budget ${name} allows no disruption`;
}
