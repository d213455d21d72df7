/**
 * The agent's settings.
 *
 * @module
 */
import { AGENT_PORT, DEFAULT_NAMESPACE } from "../shared/installation.ts";
import * as z from "zod";
import { OPTIPOD_KEYS } from "../shared/config/aliases.ts";
import {
  durationKind,
  type Kind,
  kindOf,
  listenKind,
  numberKind,
  optionalKind,
  switchKind,
  textKind,
} from "../shared/config/kinds.ts";
import { HEARTBEAT_SETTING, IDLE_CPU_SETTING, PROGRAM_SETTINGS } from "../shared/config/schema.ts";
import { setting, type SettingValues } from "../shared/config/setting.ts";
import { createDemandRule } from "../shared/demand/demand_rule.ts";
import { DEFAULT_PACE, type PaceOptions } from "../shared/pacing/paced_container.ts";
import type { NodeLoopOptions } from "./loop.ts";

/** A path without slashes at its end, but for the root. */
const directoryKind: Kind<string> = kindOf(
  "a directory",
  (text) => text === "" ? undefined : text.replace(/(?<=.)\/+$/, ""),
);

const AGENT_SHAPE = {
  ...PROGRAM_SETTINGS.shape,
  nodeName: setting("nodeName", {
    kind: optionalKind(textKind("a node's name")),
    default: "",
    description: "The node of these cgroups; needed by all but --once",
  }),
  namespace: setting("namespace", {
    kind: textKind("a namespace"),
    default: DEFAULT_NAMESPACE,
    description: "The namespace of the installation, with the agents' leases",
  }),
  idleCPU: IDLE_CPU_SETTING,
  cgroupRoot: setting("agent.cgroupRoot", {
    kind: directoryKind,
    default: "/host/cgroup",
    description: "Where the host's /sys/fs/cgroup is mounted",
  }),
  kernelRoot: setting("agent.kernelRoot", {
    kind: directoryKind,
    default: "/host/kernel",
    description:
      "Where the host's /sys/kernel is mounted: while sched_ext/state there is not disabled, " +
      "limits are held",
  }),
  cores: setting("agent.cores", {
    kind: optionalKind(numberKind({ min: 1, max: 8192, whole: true })),
    default: "",
    description: "CPUs of the node; by default as many as the cgroups show",
  }),
  listen: setting("agent.listen", {
    kind: listenKind,
    default: `:${AGENT_PORT}`,
    description: "Where /healthz, /readyz, /metrics and /view are served",
  }),
  sampleInterval: setting("agent.sampleInterval", {
    kind: durationKind({ minMs: 50, maxMs: 10_000 }),
    default: "250ms",
    description: "Time between two samples of the node",
  }),
  busySampleInterval: setting("agent.busySampleInterval", {
    kind: durationKind({ minMs: 20, maxMs: 10_000 }),
    default: "100ms",
    description:
      "The same while a container is close to its limit, or the node uses 80 % of its CPU",
  }),
  heartbeat: HEARTBEAT_SETTING,
  reserve: setting("agent.reserve", {
    kind: numberKind({ max: 0.9 }),
    default: "0.1",
    description: "Share of the CPU that the market could have which it leaves to the node",
  }),
  waitTarget: setting("agent.waitTarget", {
    kind: durationKind({ minMs: 10, maxMs: 2000 }),
    default: "100ms",
    description: "One request in a hundred may wait longer for CPU quota; longer waits save CPU",
  }),
  decreaseHysteresis: setting("agent.decreaseHysteresis", {
    kind: numberKind({ max: 0.9 }),
    default: "0.1",
    description: "A decrease by lower demand is at least this share of the limit",
  }),
  decreaseWait: setting("agent.decreaseWait", {
    kind: durationKind({ minMs: 1000, maxMs: 3_600_000 }),
    default: "30s",
    description: "How long demand must stay lower before the limit follows",
  }),
  warmUp: setting("agent.warmUp", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "10s",
    description: "A limit follows lower demand only when the container's readings are this old",
  }),
  usageMean: setting("agent.usageMean", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "15s",
    description: "Time constant of a container's mean usage; a usage that has clearly shifted is " +
      "followed at once",
  }),
  raiseHysteresis: setting("agent.raiseHysteresis", {
    kind: numberKind({ max: 0.15 }),
    default: "0.01",
    description:
      "While limits follow demand (market.idleCPU: tight, and Guaranteed pods): a raise " +
      "is at least this share of the limit, and up to 0.15 of it as CPU gets scarce",
  }),
  raiseGap: setting("agent.raiseGap", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "1s",
    description: "While limits follow demand: least time between two raises of a container",
  }),
  shareGap: setting("agent.shareGap", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "5s",
    description: "While CPU is scarce: least time between two decreases of a container that give " +
      "its CPU to others",
  }),
  shareHysteresis: setting("agent.shareHysteresis", {
    kind: numberKind({ max: 0.9 }),
    default: "0.05",
    description: "While CPU is scarce: a change of a limit to the container's share is at least " +
      "this share of the limit",
  }),
  releaseAfter: setting("agent.releaseAfter", {
    kind: durationKind({ minMs: 1000, maxMs: 3_600_000 }),
    default: "10s",
    description: "While CPU is scarce: a container gets its ceiling back when it got all that it " +
      "needs for this long",
  }),
  stuckAfter: setting("agent.stuckAfter", {
    kind: durationKind({ minMs: 5000, maxMs: 600_000 }),
    default: "30s",
    description: "/healthz fails when the loop has stood still for this long",
  }),
  stopGrace: setting("agent.stopGrace", {
    kind: durationKind({ minMs: 1000, maxMs: 10_000 }),
    default: "10s",
    description: "Time for a clean end after SIGTERM",
  }),
  once: setting("once", {
    kind: switchKind,
    default: "false",
    description: "Samples twice, prints the usage between the samples, and ends; needs no cluster",
    onlyBy: "flag",
  }),
  interval: setting("interval", {
    kind: durationKind({ minMs: 10, maxMs: 60_000 }),
    default: "250ms",
    description: "With --once: time between the two samples",
    onlyBy: "flag",
  }),
  json: setting("json", {
    kind: switchKind,
    default: "false",
    description: "With --once: JSON instead of a table",
    onlyBy: "flag",
  }),
};

/** All settings, in the order in which they are shown. */
export const AGENT_SETTINGS: z.ZodObject<typeof AGENT_SHAPE> = z.object(AGENT_SHAPE);

/** The values of the agent's settings. */
export type AgentSettings = SettingValues<typeof AGENT_SETTINGS>;

/**
 * Sections of the settings file that the controller checks. The agent reads its own keys there and
 * ignores the others.
 */
export const OTHER_SECTIONS: readonly string[] = [
  "market",
  "metrics",
  "rightsizing",
  "webhook",
  "dashboard",
  "placement",
  "nodeLabels",
  "controller",
  ...OPTIPOD_KEYS,
];

/** The options of the loop that users can set. */
export type LoopSettings = Required<
  Omit<NodeLoopOptions, "needUpTo" | "observe" | "alive" | "sampled">
>;

/** Options of the loop by the settings. */
export function loopSettings(settings: AgentSettings): LoopSettings {
  return {
    pace: paceOptions(settings),
    idleCPU: settings.idleCPU,
    reserve: settings.reserve,
    heartbeatMs: settings.heartbeat,
    waitTargetMs: settings.waitTarget,
    newDemandRule: () => createDemandRule({ meanMs: settings.usageMean }),
    sampleMs: settings.sampleInterval,
    busySampleMs: settings.busySampleInterval,
  };
}

/** Options of pacing by the settings. */
export function paceOptions(settings: AgentSettings): PaceOptions {
  return {
    ...DEFAULT_PACE,
    warmUpMs: settings.warmUp,
    lowerHysteresis: settings.decreaseHysteresis,
    lowerWaitMs: settings.decreaseWait,
    raiseHysteresis: settings.raiseHysteresis,
    raiseGapMs: settings.raiseGap,
    fundingGapMs: settings.shareGap,
    shareHysteresis: settings.shareHysteresis,
    releaseAfterMs: settings.releaseAfter,
  };
}
