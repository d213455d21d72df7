/**
 * The rows that every program's table of settings has.
 *
 * @module
 */
import type { Setting } from "./setting.ts";
import { choiceKind, optionalKind, textKind } from "./setting_kinds.ts";

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
