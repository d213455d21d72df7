/**
 * Nodes that are about to go.
 *
 * @module
 */

/** A taint that says so. */
export interface DepartureTaint {
  readonly key: string;
  /** Absent: whatever it is. */
  readonly value?: string;
  /** For instance `NoSchedule`; absent: whatever it is. */
  readonly effect?: string;
}

/** What says so: one of them is enough. */
export interface DepartureSigns {
  readonly taints: readonly DepartureTaint[];
  /** Types of node conditions that are True. */
  readonly conditions: readonly string[];
}

/** A node, as far as it tells. */
export interface DepartingNode {
  readonly taints?: readonly {
    readonly key: string;
    readonly value: string;
    readonly effect: string;
  }[];
  /** Types of the conditions that hold. */
  readonly alarms?: readonly string[];
}

/** Names of the presets. */
export type DeparturePreset = "karpenter" | "cluster-autoscaler" | "aws" | "gke" | "aks";

/** Of AWS' termination handler, by the event that it has heard of. */
const AWS_EVENTS = ["spot-itn", "scheduled-maintenance", "asg-lifecycle-termination"];
/** Of AKS' node problem detector. A frozen machine comes back, so `FreezeScheduled` is none of them. */
const AKS_CONDITIONS = ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"];

/**
 * The signs of those who take nodes away. Sources: karpenter.sh, "Disruption", with the taint of before 1.0,
 * too; cluster-autoscaler, `ToBeDeletedTaint`, and not that of mere candidates; aws-node-termination-handler,
 * `pkg/node`, without rebalance recommendations, after which most nodes stay; GKE's termination handler and
 * "graceful node termination"; AKS, "Node Problem Detector" and its scheduled events.
 */
export const DEPARTURE_PRESETS: Readonly<Record<DeparturePreset, DepartureSigns>> = {
  karpenter: {
    taints: [
      { key: "karpenter.sh/disrupted" },
      { key: "karpenter.sh/disruption", value: "disrupting" },
    ],
    conditions: [],
  },
  "cluster-autoscaler": { taints: [{ key: "ToBeDeletedByClusterAutoscaler" }], conditions: [] },
  aws: {
    taints: AWS_EVENTS.map((event) => ({ key: `aws-node-termination-handler/${event}` })),
    conditions: [],
  },
  gke: { taints: [{ key: "cloud.google.com/impending-node-termination" }], conditions: [] },
  aks: { taints: [], conditions: AKS_CONDITIONS },
};

/** Where nothing is configured: all presets, as none takes the words of another. */
export const DEFAULT_DEPARTURE_SIGNS: DepartureSigns = {
  taints: Object.values(DEPARTURE_PRESETS).flatMap(({ taints }) => taints),
  conditions: Object.values(DEPARTURE_PRESETS).flatMap(({ conditions }) => conditions),
};

/** The sign that the node is about to go, for a message; undefined where there is none. */
export function departureOf(
  { taints = [], alarms = [] }: DepartingNode,
  signs: DepartureSigns,
): string | undefined {
  const taint = taints.find((one) =>
    signs.taints.some(({ key, value = one.value, effect = one.effect }) =>
      key === one.key && value === one.value && effect === one.effect
    )
  );
  if (taint !== undefined) return `taint ${taint.key}`;
  const condition = alarms.find((one) => signs.conditions.includes(one));
  return condition && `condition ${condition}`;
}
