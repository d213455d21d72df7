/**
 * The installation's settings that decide which pods take part. The programs check the file; here unreadable
 * values count as not set.
 *
 * @module
 */
import { unlessRefused } from "../../adapters/kube/client/connection.ts";
import { type Effective, effectiveSettings } from "../../shared/config/load.ts";
import { MARKET_SETTING, SCOPE_SETTINGS } from "../../shared/config/schema.ts";
import { settingOf, type SettingsSchema } from "../../shared/config/setting.ts";
import { commandFlags } from "../../shared/config/command_line.ts";
import { readableYAML, withFileValue } from "../../shared/config/file.ts";
import type { ScopeSettings } from "../../shared/resize/scope.ts";
import { type ClusterReader, CommandProblem, type ControllerCommand } from "./ports.ts";
import { SETTINGS } from "../../shared/installation.ts";
import { SYSTEM_NAMESPACE } from "./kube/system_namespace.ts";

const MARKET_KEY = settingOf(MARKET_SETTING).key;

/** The values of a settings file; defaults for missing and unreadable ones. */
export function marketSettings(text: string): ScopeSettings {
  const { values } = controllerSettings(SCOPE_SETTINGS, { variables: {}, args: [] }, { text });
  // Programs never manage the pods of their own namespace.
  return {
    ...values,
    excludedNamespaces: [...new Set([...values.excludedNamespaces, SYSTEM_NAMESPACE])],
  };
}

/**
 * The text of the settings file with the market off, which controllers follow even in a text with faults.
 * Throws a `CommandProblem` for a text in which they would not.
 */
export function withMarketOff(text: string): string {
  const { root, faults } = readableYAML(text);
  const hasSections = root === null || typeof root === "object" && !Array.isArray(root);
  if (faults.length === 0 && hasSections) {
    return withFileValue(text, { key: MARKET_KEY, value: false });
  }
  const switched = `market: off\n${text}`;
  if (!marketSettings(switched).market) return switched;
  const { name } = SETTINGS;
  throw new CommandProblem(
    `Cannot set ${MARKET_KEY}: the settings file is ${
      faults[0] === undefined ? "no map of sections" : `not YAML: ${faults[0]}`
    }; correct it with kubectl edit configmap ${name} -n ${SYSTEM_NAMESPACE}`,
  );
}

/** The flag or variable that overrides `market: off` of the settings: `env MBCAS_MARKET is on`. */
export function marketOverride(command: ControllerCommand): string | undefined {
  const { overridden: [one] } = controllerSettings(SCOPE_SETTINGS, command, {
    text: "market: off",
  });
  return one === undefined ? undefined : `${one.by} is ${one.holds}`;
}

/** The controller's settings from flags, variables and this file; a fault leaves the default. */
export function controllerSettings<S extends SettingsSchema>(
  schema: S,
  { variables, args }: ControllerCommand,
  { text }: { readonly text: string },
): Effective<S> {
  const command = commandFlags({ name: "", description: "", schema }, args);
  const effective = effectiveSettings(schema, {
    flags: "flags" in command ? command.flags : new Map(),
    env: variables,
    file: { path: "", text },
  });
  return "faults" in effective ? effective.readable : effective;
}

/** The text of the settings file; empty where there is none. */
export interface ReadSettings {
  readonly text: string;
  /** In sentences, for people. */
  readonly problems: readonly string[];
}

/** Reads the settings; assumes defaults where the user may not read them. */
export async function readSettings(
  reader: Pick<ClusterReader, "settingsText">,
): Promise<ReadSettings> {
  // The object separates a missing file, an empty text, from one that the user may not read, undefined.
  const read = await unlessRefused(reader.settingsText().then((text = "") => ({ text })), 403);
  return read === undefined
    ? { text: "", problems: ["The installation's settings can't be read: defaults assumed"] }
    : { ...read, problems: [] };
}
