/**
 * How the usual makers of nodes label spot nodes.
 *
 * @module
 */
import type { LabelSelector } from "../api/label_selector.ts";
import type { ClassNodes, NodeClasses } from "./node_classes.ts";

/** Names of the presets. */
export type NodeClassPreset = "karpenter" | "eks" | "gke" | "aks";

/** Where nothing is configured. */
export const DEFAULT_PRESET: NodeClassPreset = "karpenter";

const GKE_SPOT = "cloud.google.com/gke-spot";
const GKE_PREEMPTIBLE = "cloud.google.com/gke-preemptible";
const GKE_PROVISIONING = "cloud.google.com/gke-provisioning";
const AKS_PRIORITY = "kubernetes.azure.com/scalesetpriority";

/**
 * Sources: karpenter.sh, "NodePools", well-known labels; Amazon EKS, "Managed node groups", capacity
 * types; GKE, "Spot VMs" and "Use preemptible VMs to run workloads"; AKS, "Add an Azure Spot node pool", which labels and taints spot nodes and
 * leaves all others without a label.
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
