/**
 * The agent's table of settings.
 *
 * @module
 */
import { HEARTBEAT_ROW, IDLE_CPU_ROW, PROGRAM_ROWS } from "../shared/config/program_rows.ts";
import { OPTIPOD_KEYS } from "../shared/config/optipod_keys.ts";
import type { Setting, SettingKind, SettingValues } from "../shared/config/setting.ts";
import {
  durationKind,
  listenKind,
  numberKind,
  optionalKind,
  switchKind,
  textKind,
} from "../shared/config/setting_kinds.ts";

const DIRECTORY: SettingKind<string> = {
  expects: "a directory",
  // Paths are put together with a slash; the root itself keeps its own.
  parse: (text) => text === "" ? undefined : text.replace(/(?<=.)\/+$/, ""),
};

/** All that can be set, in the order in which it is shown. */
export const AGENT_SETTINGS = {
  ...PROGRAM_ROWS,
  nodeName: row({
    key: "nodeName",
    flag: "--node-name",
    env: "NODE_NAME",
    default: "",
    description: "The node of these cgroups; needed by all but --once",
    kind: optionalKind(textKind("a node's name")),
  }),
  namespace: row({
    key: "namespace",
    flag: "--namespace",
    env: "POD_NAMESPACE",
    default: "mbcas-system",
    description: "The namespace of the installation, with the agents' leases",
    kind: textKind("a namespace"),
  }),
  idleCPU: IDLE_CPU_ROW,
  cgroupRoot: row({
    key: "agent.cgroupRoot",
    flag: "--cgroup-root",
    env: "MBCAS_CGROUP_ROOT",
    default: "/host/cgroup",
    description: "Where the host's /sys/fs/cgroup is mounted",
    kind: DIRECTORY,
  }),
  kernelRoot: row({
    key: "agent.kernelRoot",
    flag: "--kernel-root",
    env: "MBCAS_KERNEL_ROOT",
    default: "/host/kernel",
    description:
      "Where the host's /sys/kernel is mounted: while sched_ext/state there is not disabled, " +
      "limits are held",
    kind: DIRECTORY,
  }),
  cores: row({
    key: "agent.cores",
    flag: "--cores",
    env: "MBCAS_CORES",
    default: "",
    description: "CPUs of the node; by default as many as the cgroups show",
    kind: optionalKind(numberKind({ least: 1, most: 8192, whole: true })),
  }),
  listen: row({
    key: "agent.listen",
    flag: "--listen",
    env: "MBCAS_AGENT_LISTEN",
    default: ":8081",
    description: "Where /healthz, /readyz, /metrics and /view are served",
    kind: listenKind,
  }),
  sampleInterval: row({
    key: "agent.sampleInterval",
    flag: "--sample-interval",
    env: "MBCAS_SAMPLE_INTERVAL",
    default: "250ms",
    description: "Time between two looks at the node",
    kind: durationKind({ leastMs: 50, mostMs: 10_000 }),
  }),
  busySampleInterval: row({
    key: "agent.busySampleInterval",
    flag: "--busy-sample-interval",
    env: "MBCAS_BUSY_SAMPLE_INTERVAL",
    default: "100ms",
    description:
      "The same while a container is close to its limit, or the node uses 80 % of its CPU",
    kind: durationKind({ leastMs: 20, mostMs: 10_000 }),
  }),
  heartbeat: HEARTBEAT_ROW,
  reserve: row({
    key: "agent.reserve",
    flag: "--reserve",
    env: "MBCAS_RESERVE",
    default: "0.1",
    description: "Share of the node's allocatable CPU that is never shared out",
    kind: numberKind({ most: 0.9 }),
  }),
  waitTarget: row({
    key: "agent.waitTarget",
    flag: "--wait-target",
    env: "MBCAS_WAIT_TARGET",
    default: "100ms",
    description: "One request in a hundred may wait longer for CPU quota; longer waits save CPU",
    kind: durationKind({ leastMs: 10, mostMs: 2000 }),
  }),
  decreaseHysteresis: row({
    key: "agent.decreaseHysteresis",
    flag: "--decrease-hysteresis",
    env: "MBCAS_DECREASE_HYSTERESIS",
    default: "0.1",
    description: "A decrease by lower demand is at least this share of the limit",
    kind: numberKind({ most: 0.9 }),
  }),
  decreaseWait: row({
    key: "agent.decreaseWait",
    flag: "--decrease-wait",
    env: "MBCAS_DECREASE_WAIT",
    default: "30s",
    description: "How long demand must stay lower before the limit follows",
    kind: durationKind({ leastMs: 1000, mostMs: 3_600_000 }),
  }),
  stuckAfter: row({
    key: "agent.stuckAfter",
    flag: "--stuck-after",
    env: "MBCAS_STUCK_AFTER",
    default: "30s",
    description: "/healthz fails when the loop has stood still for this long",
    kind: durationKind({ leastMs: 5000, mostMs: 600_000 }),
  }),
  stopGrace: row({
    key: "agent.stopGrace",
    flag: "--stop-grace",
    env: "MBCAS_AGENT_STOP_GRACE",
    default: "10s",
    description: "Time for a clean end after SIGTERM",
    kind: durationKind({ leastMs: 1000, mostMs: 10_000 }),
  }),
  once: row({
    key: "once",
    flag: "--once",
    default: "false",
    description: "Looks twice, prints what lies between the looks, and ends; needs no cluster",
    kind: switchKind,
  }),
  interval: row({
    key: "interval",
    flag: "--interval",
    default: "250ms",
    description: "With --once: time between the two looks",
    kind: durationKind({ leastMs: 10, mostMs: 60_000 }),
  }),
  json: row({
    key: "json",
    flag: "--json",
    default: "false",
    description: "With --once: JSON instead of a table",
    kind: switchKind,
  }),
};

/** The agent's settings. */
export type AgentSettings = SettingValues<typeof AGENT_SETTINGS>;

/**
 * Sections of the settings file that the controller checks. The agent reads its own keys there and
 * passes over the others.
 */
export const OTHER_SECTIONS: readonly string[] = [
  "market",
  "metrics",
  "rightsizing",
  "webhook",
  "placement",
  "nodeLabels",
  "controller",
  ...OPTIPOD_KEYS,
];

/** Keeps the type of the value while the row is checked. */
function row<T>(setting: Setting<T>): Setting<T> {
  return setting;
}
