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
    description: "Node of these cgroups. Required without --once",
  }),
  namespace: setting("namespace", {
    kind: textKind("a namespace"),
    default: DEFAULT_NAMESPACE,
    description: "Namespace of the installation, with the agents' Leases",
  }),
  idleCPU: IDLE_CPU_SETTING,
  cgroupRoot: setting("agent.cgroupRoot", {
    kind: directoryKind,
    default: "/host/cgroup",
    description: "Mount path of the host's /sys/fs/cgroup",
  }),
  kernelRoot: setting("agent.kernelRoot", {
    kind: directoryKind,
    default: "/host/kernel",
    description:
      "Mount path of the host's /sys/kernel. The agent moves no limits unless sched_ext/state " +
      "there is disabled or absent",
  }),
  cores: setting("agent.cores", {
    kind: optionalKind(numberKind({ min: 1, max: 8192, whole: true })),
    default: "",
    description: "Number of CPUs of the node. Empty: as many as the cgroups show",
  }),
  listen: setting("agent.listen", {
    kind: listenKind,
    default: `:${AGENT_PORT}`,
    description: "Address of /healthz, /readyz, /metrics and /view",
  }),
  sampleInterval: setting("agent.sampleInterval", {
    kind: durationKind({ minMs: 50, maxMs: 10_000 }),
    default: "250ms",
    description: "Interval between two samples of the node",
  }),
  busySampleInterval: setting("agent.busySampleInterval", {
    kind: durationKind({ minMs: 20, maxMs: 10_000 }),
    default: "100ms",
    description:
      "Interval between two samples while a container is close to its limit, or the node uses " +
      "at least 80 % of its CPU",
  }),
  heartbeat: HEARTBEAT_SETTING,
  reserve: setting("agent.reserve", {
    kind: numberKind({ max: 0.9 }),
    default: "0.1",
    description: "Share of the node's allocatable CPU that the market does not divide",
  }),
  waitTarget: setting("agent.waitTarget", {
    kind: durationKind({ minMs: 10, maxMs: 2000 }),
    default: "100ms",
    description:
      "Time for which 99 of 100 requests wait at most for CPU quota. A longer time saves CPU",
  }),
  decreaseHysteresis: setting("agent.decreaseHysteresis", {
    kind: numberKind({ max: 0.9 }),
    default: "0.1",
    description: "Minimum size of a decrease that follows lower demand, as a share of the limit",
  }),
  decreaseWait: setting("agent.decreaseWait", {
    kind: durationKind({ minMs: 1000, maxMs: 3_600_000 }),
    default: "30s",
    description: "Time for which demand must stay lower before the limit follows",
  }),
  warmUp: setting("agent.warmUp", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "10s",
    description: "Minimum age of a container's readings before its limit follows lower demand",
  }),
  usageMean: setting("agent.usageMean", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "15s",
    description:
      "Time constant of a container's mean usage. The agent follows a clear shift of usage at " +
      "once",
  }),
  raiseHysteresis: setting("agent.raiseHysteresis", {
    kind: numberKind({ max: 0.15 }),
    default: "0.01",
    description:
      "While limits follow demand (market.idleCPU: tight, and Guaranteed pods): minimum size of " +
      "a raise, as a share of the limit. It grows to 0.15 as CPU becomes scarce",
  }),
  raiseGap: setting("agent.raiseGap", {
    kind: durationKind({ minMs: 0, maxMs: 600_000 }),
    default: "1s",
    description: "While limits follow demand: minimum time between two raises of a container",
  }),
  shareGap: setting("agent.shareGap", {
    kind: durationKind({ minMs: 1000, maxMs: 600_000 }),
    default: "5s",
    description:
      "While CPU is scarce: minimum time between two decreases of a container that give its CPU " +
      "to others",
  }),
  shareHysteresis: setting("agent.shareHysteresis", {
    kind: numberKind({ max: 0.9 }),
    default: "0.05",
    description:
      "While CPU is scarce: minimum size of a change to the container's share, as a share of " +
      "the limit",
  }),
  releaseAfter: setting("agent.releaseAfter", {
    kind: durationKind({ minMs: 1000, maxMs: 3_600_000 }),
    default: "10s",
    description:
      "While CPU is scarce: a container gets its ceiling back after it got all the CPU that it " +
      "needs for this long",
  }),
  stuckAfter: setting("agent.stuckAfter", {
    kind: durationKind({ minMs: 5000, maxMs: 600_000 }),
    default: "30s",
    description: "/healthz fails if the agent's loop makes no progress for this long",
  }),
  stopGrace: setting("agent.stopGrace", {
    kind: durationKind({ minMs: 1000, maxMs: 10_000 }),
    default: "10s",
    description: "Time for a graceful shutdown after SIGTERM",
  }),
  once: setting("once", {
    kind: switchKind,
    default: "false",
    description: "Samples twice, prints the usage between the samples, and exits. Needs no cluster",
    onlyBy: "flag",
  }),
  interval: setting("interval", {
    kind: durationKind({ minMs: 10, maxMs: 60_000 }),
    default: "250ms",
    description: "With --once: interval between the two samples",
    onlyBy: "flag",
  }),
  json: setting("json", {
    kind: switchKind,
    default: "false",
    description: "With --once: prints JSON instead of a table",
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
export const IGNORED_SECTIONS: readonly string[] = [
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
