/**
 * The classes of nodes, and the setting with the selectors and tolerations of each class.
 *
 * @module
 */
import { type Labels, type LabelSelector, labelsMatch } from "../api/label_selector.ts";
import { selectorOfTerms, strictSelectorSchema, treeKind } from "../config/map_kinds.ts";
import type { Kind } from "../config/kinds.ts";
import * as z from "zod";

/** A toleration of a pod's spec. */
export interface Toleration {
  readonly key?: string;
  readonly operator?: "Exists" | "Equal";
  readonly value?: string;
  readonly effect?: "NoSchedule" | "PreferNoSchedule" | "NoExecute";
  readonly tolerationSeconds?: number;
}

/** The nodes of one class. */
export interface ClassNodes {
  /**
   * One of them must match. Pods are sent to the nodes of the first, which therefore has `matchLabels`
   * alone; the others are for nodes with other labels.
   */
  readonly selectors: readonly LabelSelector[];
  /** Tolerations of the pods of the class. */
  readonly tolerations: readonly Toleration[];
}

/** The setting. Without selectors of on-demand, only taints keep on-demand pods off spot nodes. */
export type NodeClasses = Readonly<Record<NodeClass, ClassNodes>>;

/** The class of a node: spot if one of the selectors of spot matches, otherwise on-demand. */
export function nodeClassOf(nodeLabels: Labels, classes: NodeClasses): NodeClass {
  return classes.spot.selectors.some((one) => labelsMatch(nodeLabels, one)) ? "spot" : "on-demand";
}

/** The `nodeSelector` that sends a pod to nodes of the class. */
export function selectorOf(one: NodeClass, classes: NodeClasses): Labels {
  return classes[one].selectors[0]?.matchLabels ?? {};
}

/** Keys of labels that distinguish the classes. */
export function capacityKeys(classes: NodeClasses): ReadonlySet<string> {
  return new Set(
    [...classes.spot.selectors, ...classes["on-demand"].selectors].flatMap((one) => [
      ...Object.keys(one.matchLabels),
      ...one.matchExpressions.map(({ key }) => key),
    ]),
  );
}

/** Faults of the setting, a sentence each, beginning with the key that has the selectors of a class. */
export function nodeClassesFaults(
  classes: NodeClasses,
  keys: Readonly<Record<NodeClass, string>> = LIST_KEYS,
): readonly string[] {
  const faults: string[] = [];
  for (const one of NODE_CLASSES) {
    const [first] = classes[one].selectors;
    if (first === undefined) continue;
    if (Object.keys(first.matchLabels).length === 0 || first.matchExpressions.length > 0) {
      faults.push(`${keys[one]}[0] must have matchLabels alone: pods are sent to nodes by it`);
    }
  }
  if (classes.spot.selectors.length === 0) {
    faults.push(`${keys.spot} must name at least one selector`);
  }
  if (classes["on-demand"].selectors.length === 0 && classes.spot.tolerations.length === 0) {
    faults.push(
      `${keys["on-demand"]} must name at least one selector where spotTolerations has no taint ` +
        "that keeps on-demand pods off spot nodes",
    );
  }
  if (faults.length === 0 && selectsSpot(classes)) {
    faults.push(`${keys["on-demand"]}[0] must not select what ${keys.spot} select`);
  }
  return faults;
}

/** True if on-demand pods would be sent to spot nodes, too, and no taint keeps them off. */
function selectsSpot(classes: NodeClasses): boolean {
  const { spot, "on-demand": onDemand } = classes;
  if (nodeClassOf(selectorOf("on-demand", classes), classes) === "spot") return true;
  const [first] = onDemand.selectors;
  return first !== undefined && spot.tolerations.length === 0 &&
    labelsMatch(selectorOf("spot", classes), first);
}

/** `spot`: cheap nodes that may go at short notice. `on-demand`: all others. */
export const NODE_CLASSES = ["spot", "on-demand"] as const;

/** One of {@linkcode NODE_CLASSES}. */
export type NodeClass = typeof NODE_CLASSES[number];

/** How many of something there are, by class. */
export type ClassCounts = Readonly<Record<NodeClass, number>>;

/** The other class. */
export function otherClass(one: NodeClass): NodeClass {
  return one === "spot" ? "on-demand" : "spot";
}

/** A preset. */
export type NodeClassPreset = "karpenter" | "eks" | "gke" | "aks";

const GKE_SPOT = "cloud.google.com/gke-spot";
const GKE_PREEMPTIBLE = "cloud.google.com/gke-preemptible";
const GKE_PROVISIONING = "cloud.google.com/gke-provisioning";
const AKS_PRIORITY = "kubernetes.azure.com/scalesetpriority";

/**
 * Labels of common providers. Sources: karpenter.sh, "NodePools", well-known labels; Amazon EKS, "Managed
 * node groups", capacity types; GKE, "Spot VMs" and "Use preemptible VMs to run workloads"; AKS, "Add an
 * Azure Spot node pool", which labels and taints spot nodes only.
 */
export const NODE_CLASS_PRESETS: Readonly<Record<NodeClassPreset, NodeClasses>> = {
  karpenter: {
    spot: untainted({ "karpenter.sh/capacity-type": "spot" }),
    "on-demand": untainted({ "karpenter.sh/capacity-type": "on-demand" }),
  },
  eks: {
    spot: untainted({ "eks.amazonaws.com/capacityType": "SPOT" }),
    "on-demand": untainted({ "eks.amazonaws.com/capacityType": "ON_DEMAND" }),
  },
  gke: {
    spot: {
      selectors: [
        labelled({ [GKE_SPOT]: "true" }),
        labelled({ [GKE_PREEMPTIBLE]: "true" }),
        labelled({ [GKE_PROVISIONING]: "spot" }),
        labelled({ [GKE_PROVISIONING]: "preemptible" }),
      ],
      tolerations: [{ key: GKE_SPOT, operator: "Equal", value: "true", effect: "NoSchedule" }],
    },
    "on-demand": untainted({ [GKE_PROVISIONING]: "standard" }),
  },
  aks: {
    spot: {
      selectors: [labelled({ [AKS_PRIORITY]: "spot" })],
      tolerations: [{ key: AKS_PRIORITY, operator: "Equal", value: "spot", effect: "NoSchedule" }],
    },
    "on-demand": { selectors: [], tolerations: [] },
  },
};

function labelled(matchLabels: Readonly<Record<string, string>>): LabelSelector {
  return { matchLabels, matchExpressions: [] };
}

function untainted(matchLabels: Readonly<Record<string, string>>): ClassNodes {
  return { selectors: [labelled(matchLabels)], tolerations: [] };
}

const PRESETS = Object.keys(NODE_CLASS_PRESETS) as readonly NodeClassPreset[];
/** The longest list of selectors or tolerations. */
const MOST = 32;

const selectors = z.array(strictSelectorSchema).max(MOST).optional();

const toleration = z.strictObject({
  key: z.string().exactOptional(),
  operator: z.enum(["Exists", "Equal"]).exactOptional(),
  value: z.string().exactOptional(),
  effect: z.enum(["NoSchedule", "PreferNoSchedule", "NoExecute"]).exactOptional(),
  tolerationSeconds: z.int().min(0).exactOptional(),
}) satisfies z.ZodType<Toleration>;

const selectorText = z.string().transform((text, context): unknown => {
  const selector = selectorOfTerms(text);
  if (selector !== undefined) return selector;
  context.addIssue({ code: "custom", message: "must be labels, for instance class=spot" });
  return z.NEVER;
}).pipe(strictSelectorSchema);

/** Spotalis' first form: labels of each class as a text. */
const nodeLabels = z.strictObject({ spot: selectorText, onDemand: selectorText }).transform((
  { spot, onDemand },
): NodeClasses => ({
  spot: { selectors: [spot], tolerations: [] },
  "on-demand": { selectors: [onDemand], tolerations: [] },
}));

const classifier = z.strictObject({
  preset: z.enum(PRESETS).optional(),
  spotLabels: selectors,
  onDemandLabels: selectors,
  spotTolerations: z.array(toleration).max(MOST).optional(),
}).transform(({ preset, spotLabels, onDemandLabels, spotTolerations }, context): NodeClasses => {
  const defaults = preset === undefined ? undefined : NODE_CLASS_PRESETS[preset];
  const spot = spotLabels ?? defaults?.spot.selectors;
  const onDemand = onDemandLabels ?? defaults?.["on-demand"].selectors;
  if (spot === undefined || onDemand === undefined) {
    const message = "must have a preset, or spotLabels and onDemandLabels";
    context.addIssue({ code: "custom", message });
    return z.NEVER;
  }
  return {
    spot: { selectors: spot, tolerations: spotTolerations ?? defaults?.spot.tolerations ?? [] },
    "on-demand": { selectors: onDemand, tolerations: defaults?.["on-demand"].tolerations ?? [] },
  };
});

/** The keys of the selectors in the two forms. */
const LABEL_KEYS = { spot: "spot", "on-demand": "onDemand" } as const;
const LIST_KEYS = { spot: "spotLabels", "on-demand": "onDemandLabels" } as const;

/** The schema of the form that the setting has, so that faults name the right keys. */
function schemaOf(raw: unknown): z.ZodType<NodeClasses> {
  const isLabels = ["spot", "onDemand"].some((key) => Object.hasOwn(Object(raw), key));
  const form: z.ZodType<NodeClasses> = isLabels ? nodeLabels : classifier;
  return form.superRefine((classes, context) => {
    for (const message of nodeClassesFaults(classes, isLabels ? LABEL_KEYS : LIST_KEYS)) {
      context.addIssue({ code: "custom", message });
    }
  });
}

/** The setting that says which nodes are spot: a preset, or selectors of both classes. */
export const nodeClassifierKind: Kind<NodeClasses> = treeKind({
  expects: `${PRESETS.join(", ")}, or a map with preset, spotLabels, onDemandLabels and ` +
    "spotTolerations, or with spot and onDemand as key=value",
  schema: schemaOf,
  shortForm: (text) => PRESETS.some((one) => one === text) ? { preset: text } : undefined,
});
