/**
 * Nodes that are about to go, and the setting of the signs.
 *
 * @module
 */
import * as z from "zod";
import { type Node, NODE_PRESSURES } from "../api/node.ts";
import type { Kind } from "../config/kinds.ts";
import { treeKind } from "../config/map_kinds.ts";

/** A taint that is a sign. */
export interface DepartureTaint {
  readonly key: string;
  /** Absent: any. */
  readonly value?: string;
  /** For instance `NoSchedule`; absent: any. */
  readonly effect?: string;
  /** True: the node will be drained, and may stay after all. */
  readonly drained?: boolean;
}

/** Signs that a node is about to go: one of them is enough. */
export interface DepartureSigns {
  readonly taints: readonly DepartureTaint[];
  /** Types of node conditions that are True. */
  readonly conditions: readonly string[];
}

/** The departure of a node. */
export interface NodeDeparture {
  /** In messages, for instance `taint karpenter.sh/disrupted`. */
  readonly sign: string;
  /** True: it will be drained; false: it is gone in a moment, whatever runs there. */
  readonly drained: boolean;
}

/** A preset. */
export type DeparturePreset = "karpenter" | "cluster-autoscaler" | "aws" | "gke" | "aks";

/** Events of AWS' termination handler. */
const AWS_EVENTS = ["spot-itn", "scheduled-maintenance", "asg-lifecycle-termination"];
/** Conditions of AKS' node problem detector; not `FreezeScheduled`, as a frozen machine comes back. */
const AKS_CONDITIONS = ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"];

/**
 * Signs of autoscalers and providers. Karpenter taints for drift and consolidation as well, before the
 * replacement exists, and drains by itself after an interruption; so does cluster-autoscaler. Sources:
 * karpenter.sh, "Disruption", and the taint before 1.0; cluster-autoscaler, `ToBeDeletedTaint`, not that of
 * candidates; aws-node-termination-handler, `pkg/node`, without rebalance recommendations, after which most
 * nodes stay; GKE's termination handler and "graceful node termination"; AKS, "Node Problem Detector" and
 * its scheduled events.
 */
export const DEPARTURE_PRESETS: Readonly<Record<DeparturePreset, DepartureSigns>> = {
  karpenter: {
    taints: [
      { key: "karpenter.sh/disrupted", drained: true },
      { key: "karpenter.sh/disruption", value: "disrupting", drained: true },
    ],
    conditions: [],
  },
  "cluster-autoscaler": {
    taints: [{ key: "ToBeDeletedByClusterAutoscaler", drained: true }],
    conditions: [],
  },
  aws: {
    taints: AWS_EVENTS.map((event) => ({ key: `aws-node-termination-handler/${event}` })),
    conditions: [],
  },
  gke: { taints: [{ key: "cloud.google.com/impending-node-termination" }], conditions: [] },
  aks: { taints: [], conditions: AKS_CONDITIONS },
};

/** The default: all presets, as their signs differ. */
export const DEFAULT_DEPARTURE_SIGNS: DepartureSigns = {
  taints: Object.values(DEPARTURE_PRESETS).flatMap(({ taints }) => taints),
  conditions: Object.values(DEPARTURE_PRESETS).flatMap(({ conditions }) => conditions),
};

/** The departure of the node; undefined if it has no sign. The most urgent of several signs counts. */
export function departureOf(
  { taints = [], alarms = [] }: Pick<Node, "taints" | "alarms">,
  signs: DepartureSigns,
): NodeDeparture | undefined {
  const condition = alarms.find((one) => signs.conditions.includes(one));
  if (condition !== undefined) return { sign: `condition ${condition}`, drained: false };
  const found = signs.taints.flatMap(({ key, value, effect, drained = false }) =>
    taints.some((one) =>
        key === one.key && (value ?? one.value) === one.value &&
        (effect ?? one.effect) === one.effect
      )
      ? [{ sign: `taint ${key}`, drained }]
      : []
  );
  return found.find(({ drained }) => !drained) ?? found[0];
}

const PRESETS = Object.keys(DEPARTURE_PRESETS) as readonly DeparturePreset[];
const MOST = 64;

/** Conditions of health: an unhealthy node stays. */
const HEALTH: readonly string[] = ["Ready", ...NODE_PRESSURES];

const schema = z.strictObject({
  presets: z.array(z.enum(PRESETS)).default([]),
  taints: z.array(z.strictObject({
    key: z.string().min(1),
    value: z.string().exactOptional(),
    effect: z.string().exactOptional(),
    drained: z.boolean().exactOptional(),
  })).max(MOST).default([]),
  conditions: z.array(
    z.string().min(1).refine((type) => !HEALTH.includes(type), {
      error: `must say that a node goes: ${HEALTH.join(", ")} describe its health`,
    }),
  ).max(MOST).default([]),
}).transform(({ presets, taints, conditions }): DepartureSigns => ({
  taints: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].taints), ...taints],
  conditions: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].conditions), ...conditions],
}));

/** The setting of departure signs: presets, or a map with one's own signs. */
export const departureSignsKind: Kind<DepartureSigns> = treeKind({
  expects: `some of ${PRESETS.join(", ")}, separated by commas, or a map with presets, taints ` +
    "(key, value, effect, drained) and conditions",
  schema: () => schema,
  shortForm(text) {
    const presets = text.split(",").map((one) => one.trim()).filter((one) => one !== "");
    return { presets };
  },
});
