/**
 * Rows of settings that more than one program or feature has.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { choiceKind, durationKind, optionalKind, switchKind, textKind } from "./setting_kinds.ts";

/** How much is written, from most to least. */
export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;

/** One of {@linkcode LOG_LEVELS}. */
export type LogLevel = typeof LOG_LEVELS[number];

/** How lines of the log look: for machines or for people. */
export const LOG_FORMATS = ["json", "text"] as const;

/** One of {@linkcode LOG_FORMATS}. */
export type LogFormat = typeof LOG_FORMATS[number];

/** The rows, by the names that the programs' code uses. */
export interface ProgramRows {
  /** The settings file; null: none. */
  readonly configFile: Setting<string | null>;
  /** The kubeconfig; null: the pod's own token. */
  readonly kubeconfig: Setting<string | null>;
  readonly logLevel: Setting<LogLevel>;
  readonly logFormat: Setting<LogFormat>;
}

/** Spread these into a program's table. */
export const PROGRAM_ROWS: ProgramRows = {
  configFile: {
    key: "config",
    flag: "--config",
    env: "MBCAS_CONFIG",
    default: "",
    description: "The settings file, YAML; both programs read the same",
    kind: optionalKind(textKind("a file")),
  },
  kubeconfig: {
    key: "kubeconfig",
    flag: "--kubeconfig",
    env: "KUBECONFIG",
    default: "",
    description: "How to reach the API outside a cluster; without it the pod's own token is used",
    kind: optionalKind(textKind("a file")),
  },
  logLevel: {
    key: "log.level",
    flag: "--log-level",
    env: "MBCAS_LOG_LEVEL",
    default: "info",
    description: "The least level that is logged: debug, info, warn or error",
    kind: choiceKind(LOG_LEVELS),
    aliases: ["logging.level"],
  },
  logFormat: {
    key: "log.format",
    flag: "--log-format",
    env: "MBCAS_LOG_FORMAT",
    default: "json",
    description: "json, one object a line, or text for people",
    kind: choiceKind(LOG_FORMATS),
    aliases: ["logging.format"],
  },
};

/** Its row in both programs' tables: agents act on it, and the controller checks its own against it. */
export const HEARTBEAT_ROW: Setting<number> = {
  key: "agent.heartbeat",
  flag: "--heartbeat",
  env: "MBCAS_HEARTBEAT",
  default: "60s",
  description: "Mean time between two renewals of an agent's lease, which lasts for two; half of " +
    "controller.agentSilentAfter at most",
  kind: durationKind({ leastMs: 5000, mostMs: 120_000 }),
};

/** How long the Lease of an agent with this heartbeat lasts, ms: one renewal may be missed. */
export function agentLeaseMs(heartbeatMs: number): number {
  return 2 * heartbeatMs;
}

/** The values of {@linkcode IdleCPU}. */
export const IDLE_CPU = ["free", "tight"] as const;

/**
 * What becomes of CPU that no container needs. `free`: while there is some, limits are at their
 * ceilings. `tight`: limits follow demand.
 */
export type IdleCPU = typeof IDLE_CPU[number];

/** Its row in both programs' tables: agents act on it, and the controller checks the file. */
export const IDLE_CPU_ROW: Setting<IdleCPU> = {
  key: "market.idleCPU",
  flag: "--idle-cpu",
  env: "MBCAS_IDLE_CPU",
  default: "free",
  description:
    "free: limits are at their ceilings while a node has idle CPU, and bind while its CPU is " +
    "scarce. tight: limits follow demand at all times. Agents act on it, from their next start on",
  kind: choiceKind(IDLE_CPU),
};

/** Its row in the controller's table; the command reads it, too. */
export const MARKET_ROW: Setting<boolean> = {
  key: "market.enabled",
  flag: "--market",
  env: "MBCAS_MARKET",
  default: "on",
  description:
    "off gives every pod its original limits back; `market: off` in the file says the same, " +
    "in a file with faults, too",
  kind: switchKind,
  shorthand: true,
  live: true,
};

/** Its row in the controller's table. */
export const DRY_RUN_ROW: Setting<boolean> = {
  key: "controller.dryRun",
  flag: "--dry-run",
  env: "MBCAS_DRY_RUN",
  default: "false",
  description:
    "Everything but the patch, of the market, of rightsizing and of placement; the status says " +
    "what would be changed",
  kind: switchKind,
  live: true,
  aliases: ["dryRun"],
};
