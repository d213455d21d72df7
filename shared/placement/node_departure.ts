/**
 * Nodes that are about to go.
 *
 * @module
 */
import * as z from "zod";
import { NODE_PRESSURES } from "../api/node.ts";
import type { SettingKind } from "../config/setting.ts";
import { treeKind } from "../config/tree_kind.ts";

/** A taint that says so. */
export interface DepartureTaint {
  readonly key: string;
  /** Absent: whatever it is. */
  readonly value?: string;
  /** For instance `NoSchedule`; absent: whatever it is. */
  readonly effect?: string;
  /** True: whoever sets it drains the node, in its own time, and may take it back. */
  readonly drained?: boolean;
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

/** What a node says of its departure. */
export interface NodeDeparture {
  /** For a message, for instance `taint karpenter.sh/disrupted`. */
  readonly sign: string;
  /** True: whoever takes the node away drains it; false: it is gone in a moment, whatever runs there. */
  readonly drained: boolean;
}

/** Names of the presets. */
export type DeparturePreset = "karpenter" | "cluster-autoscaler" | "aws" | "gke" | "aks";

/** Of AWS' termination handler, by the event that it has heard of. */
const AWS_EVENTS = ["spot-itn", "scheduled-maintenance", "asg-lifecycle-termination"];
/** Of AKS' node problem detector. A frozen machine comes back, so `FreezeScheduled` is none of them. */
const AKS_CONDITIONS = ["PreemptScheduled", "TerminateScheduled", "RedeployScheduled"];

/**
 * The signs of those who take nodes away. Karpenter sets its taint for drift and consolidation as well, before
 * the replacement is there, and drains after an interruption by itself; so does cluster-autoscaler. Sources: karpenter.sh, "Disruption", with the taint
 * of before 1.0, too; cluster-autoscaler, `ToBeDeletedTaint`, and not that of mere candidates; aws-node-termination-handler,
 * `pkg/node`, without rebalance recommendations, after which most nodes stay; GKE's termination handler and
 * "graceful node termination"; AKS, "Node Problem Detector" and its scheduled events.
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

/** Where nothing is configured: all presets, as none takes the words of another. */
export const DEFAULT_DEPARTURE_SIGNS: DepartureSigns = {
  taints: Object.values(DEPARTURE_PRESETS).flatMap(({ taints }) => taints),
  conditions: Object.values(DEPARTURE_PRESETS).flatMap(({ conditions }) => conditions),
};

/** That the node is about to go; undefined where nothing says so. Of several signs the most urgent counts. */
export function departureOf(
  { taints = [], alarms = [] }: DepartingNode,
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

/** A node that is not well stays where it is; one that is Ready all the more. */
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
      error: `must say that a node goes: ${HEALTH.join(", ")} tell of its health`,
    }),
  ).max(MOST).default([]),
}).transform(({ presets, taints, conditions }): DepartureSigns => ({
  taints: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].taints), ...taints],
  conditions: [...presets.flatMap((one) => DEPARTURE_PRESETS[one].conditions), ...conditions],
}));

/** Names of those who take nodes away, or a map with signs of one's own. */
export const departureSignsKind: SettingKind<DepartureSigns> = treeKind({
  expects: `some of ${PRESETS.join(", ")}, separated by commas, or a map with presets, taints ` +
    "(key, value, effect, drained) and conditions",
  schema: () => schema,
  words(text) {
    const presets = text.split(",").map((word) => word.trim()).filter((word) => word !== "");
    return { presets };
  },
});
