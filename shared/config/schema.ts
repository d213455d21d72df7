/**
 * Settings that both programs have, or that one program checks for the other.
 *
 * @module
 */
import * as z from "zod";
import {
  choiceKind,
  durationKind,
  namespacesKind,
  optionalKind,
  switchKind,
  textKind,
} from "./kinds.ts";
import { setting, type SettingSchema } from "./setting.ts";

/** The levels of the log, from most lines to least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** One of {@linkcode LOG_LEVELS}. */
export type LogLevel = typeof LOG_LEVELS[number];

/** How lines of the log look: for machines or for people. */
const LOG_FORMATS = ["json", "text"] as const;

/** One of {@linkcode LOG_FORMATS}. */
export type LogFormat = typeof LOG_FORMATS[number];

const PROGRAM_SHAPE = {
  configFile: setting("config", {
    kind: optionalKind(textKind("a file")),
    default: "",
    description: "Settings file in YAML. Both programs read the same file",
  }),
  kubeconfig: setting("kubeconfig", {
    kind: optionalKind(textKind("a file")),
    default: "",
    description: "Kubeconfig for access from outside the cluster. Empty: the token of the pod's " +
      "ServiceAccount",
  }),
  logLevel: setting("log.level", {
    kind: choiceKind(LOG_LEVELS),
    default: "info",
    description: "Lowest level that is logged: debug, info, warn or error",
  }),
  logFormat: setting("log.format", {
    kind: choiceKind(LOG_FORMATS),
    default: "json",
    description: "json: one object per line. text: lines for people",
  }),
};

/** The settings of each program; null for no file, and for the pod's own token. */
export const PROGRAM_SETTINGS: z.ZodObject<typeof PROGRAM_SHAPE> = z.object(PROGRAM_SHAPE);

/** The agents' heartbeat, ms. The controller checks its own settings against it. */
export const HEARTBEAT_SETTING: SettingSchema<number> = setting("agent.heartbeat", {
  kind: durationKind({ minMs: 5000, maxMs: 120_000 }),
  default: "60s",
  description:
    "Mean interval between two renewals of an agent's Lease, which is valid for two intervals. " +
    "At most half of controller.agentSilentAfter",
});

/** How long the Lease of an agent with this heartbeat lasts, ms: one renewal may be missed. */
export function agentLeaseMs(heartbeatMs: number): number {
  return 2 * heartbeatMs;
}

/** The values of {@linkcode IdleCPU}. */
export const IDLE_CPU = ["free", "tight"] as const;

/**
 * The use of CPU that no container needs. `free`: while there is some, limits are at their ceilings.
 * `tight`: limits follow demand.
 */
export type IdleCPU = typeof IDLE_CPU[number];

/** Agents act on this setting; the controller only checks it in the file. */
export const IDLE_CPU_SETTING: SettingSchema<IdleCPU> = setting("market.idleCPU", {
  kind: choiceKind(IDLE_CPU),
  default: "free",
  description:
    "free: limits are at their ceilings while the node has free CPU, and bind while its CPU is " +
    "scarce. tight: limits follow demand at all times. Agents read it at their start",
});

/** The switch of the market, which the command reads, too. */
export const MARKET_SETTING: SettingSchema<boolean> = setting("market.enabled", {
  kind: switchKind,
  default: "on",
  description:
    "off gives every pod its original limits back. `market: off` in the file does the same, " +
    "even if the file has faults",
  shorthand: true,
  live: true,
});

const SCOPE_SHAPE = {
  market: MARKET_SETTING,
  managementPolicy: setting("market.managementPolicy", {
    kind: choiceKind(["OptOut", "OptIn"]),
    default: "OptOut",
    description:
      "OptOut: pods take part unless they or their namespace opt out. OptIn: pods take part if " +
      "their namespace has the label mbcas.io/managed=true, or if they opt in and may override " +
      "settings",
    live: true,
  }),
  excludedNamespaces: setting("market.excludedNamespaces", {
    kind: namespacesKind,
    default: "kube-system,kube-public,kube-node-lease,mbcas-system",
    description:
      "Namespaces that the market does not manage; a list in the file. The installation's " +
      "namespace is always excluded",
    live: true,
  }),
};

/** Which pods take part in the market, which the command reads, too. */
export const SCOPE_SETTINGS: z.ZodObject<typeof SCOPE_SHAPE> = z.object(SCOPE_SHAPE);

/** The controller's switch for all that changes objects, which the command reads, too. */
export const DRY_RUN_SETTING: SettingSchema<boolean> = setting("controller.dryRun", {
  kind: switchKind,
  default: "false",
  description:
    "Market, rightsizing and placement change nothing. The status shows what they would change",
  live: true,
});
