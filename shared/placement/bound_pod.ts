/**
 * Pods that must stay where they are.
 *
 * @module
 */
import { type Labels, labelsMatch } from "../rightsizing/label_match.ts";
import type { LabelRequirement } from "../rightsizing/policy_spec.ts";
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
  /** One of them is enough: a required node affinity, that of a persistent volume, or a named host. */
  readonly terms: readonly NodeTerm[];
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
  readonly hosts: HostClasses;
}

/**
 * Classes whose pods can be sent to the nodes that there are, by the nodes' label {@linkcode HOSTNAME}, and
 * by their names.
 */
export type HostClasses = Pick<ReadonlyMap<string, NodeClass>, "get">;

/** The label by which nodes are told apart. */
export const HOSTNAME = "kubernetes.io/hostname";

/** The bound of a node selector that names a host; none where it names none. */
export function hostBounds(nodeSelector: Labels): readonly NodeBounds[] {
  const host = nodeSelector[HOSTNAME];
  if (host === undefined) return [];
  const named = { key: HOSTNAME, operator: "In", values: [host] } as const;
  return [{ what: "its node selector", terms: [[named]] }];
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
  const binding = bounds.find(({ terms }) => !terms.some((term) => mayHold(term, options)));
  return binding && `${binding.what} allows no ${options.to} node`;
}

/** Classes of which the bounds allow a node, as far as the hosts are known. */
export function allowedClasses(
  bounds: readonly NodeBounds[],
  options: Omit<BoundOptions, "to">,
): readonly NodeClass[] {
  return NODE_CLASSES.filter((to) =>
    boundBy({ annotations: {}, bounds }, { to, ...options }) === undefined
  );
}

/** True where the bounds name a class by its own labels, whatever hosts they name. */
export function namesClass(bounds: readonly NodeBounds[], classes: NodeClasses): boolean {
  return NODE_CLASSES.some((to) =>
    boundBy({ annotations: {}, bounds }, { to, classes, hosts: { get: () => to } }) !== undefined
  );
}

/** The annotation by which its user keeps the pod from being evicted at all; undefined where none does. */
export function protectedBy(annotations: Labels): string | undefined {
  const found = PROTECTIONS.find(([key, value]) => annotations[key] === value);
  return found && `annotation ${found[0]} is "${found[1]}"`;
}

/** False where the term contradicts the class; terms without expressions match no node. */
function mayHold(term: NodeTerm, { to, classes, hosts }: BoundOptions): boolean {
  const given = selectorOf(to, classes);
  const keys = capacityKeys(classes);
  return term.length > 0 && term.every((one) => {
    if (one.key === HOSTNAME && one.operator === "In") {
      return one.values.some((host) => hosts.get(host) === to);
    }
    if (!keys.has(one.key) || !isSelectable(one)) return true;
    if (Object.hasOwn(given, one.key)) return holdsFor(given, one);
    // Nodes of the class may have the label or not, as long as that leaves them in the class.
    const values = one.operator === "In" ? one.values : knownValues(one.key, classes);
    const nodes = [given, ...values.map((value) => ({ ...given, [one.key]: value }))];
    return nodes.some((labels) => nodeClassOf(labels, classes) === to && holdsFor(labels, one));
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
