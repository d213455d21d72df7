/**
 * A program's command line, made from its table of settings.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { collectedOutput } from "./collected_output.ts";
import { nearestName } from "./nearest_name.ts";
import type { SettingsOptions } from "./effective_settings.ts";
import { flagsOf, type Setting, type SettingTable } from "./setting.ts";

/** A program as its `--help` presents it, and what its settings must fulfil. */
export interface SettingsProgram<T extends SettingTable> extends SettingsOptions<T> {
  /** How it is called. */
  readonly name: string;
  /** What it does, in one sentence. */
  readonly description: string;
  readonly table: T;
}

/** What a command line says: texts by flag, faults, or the help that was asked for. */
export type CommandFlags =
  | { readonly flags: ReadonlyMap<string, string>; readonly faults: readonly string[] }
  | { readonly help: string };

/**
 * Reads the arguments without the program's name. Nothing that a user may type makes it throw. One
 * `--` at the start is passed over: task runners hand it on.
 */
export function commandFlags<T extends SettingTable>(
  program: SettingsProgram<T>,
  args: readonly string[],
): CommandFlags {
  let help = "";
  const command = settingsCommand(program).configureOutput(
    collectedOutput({ take: (part) => help += part }),
  );
  const flags = new Map<string, string>();
  const faults: string[] = [];
  try {
    command.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { help };
    faults.push(error.message.replace(/^error: /, "").replaceAll(/\s*\n\s*/g, " "));
  }
  const known = Object.values(program.table).flatMap(flagsOf);
  for (const option of command.options) {
    const value: unknown = command.getOptionValue(option.attributeName());
    if (value === true) flags.set(option.long ?? "", "true");
    else if (typeof value === "string") flags.set(option.long ?? "", value);
  }
  for (const argument of command.args) {
    const nearest = nearestName(argument.replace(/=.*$/s, ""), known);
    const remedy = nearest === undefined ? "see --help" : `did you mean ${nearest}?`;
    faults.push(
      argument.startsWith("-")
        ? `flag ${argument} is not known; ${remedy}`
        : `argument "${argument}" is not expected; see --help`,
    );
  }
  return { flags, faults };
}

/** True for a setting with a flag that means `true` without a value. */
function isSwitch({ kind, default: text }: Setting<unknown>): boolean {
  return typeof kind.parse(text) === "boolean";
}

function settingsCommand(
  { name, description, table }: Omit<
    SettingsProgram<SettingTable>,
    keyof SettingsOptions<SettingTable>
  >,
): Command {
  const command = new Command(name).description(description).exitOverride()
    .allowUnknownOption().allowExcessArguments();
  for (const setting of Object.values(table)) {
    const { flag, env, default: text, aliasNote } = setting;
    const notes = [
      ...(text === "" ? [] : [`default: ${text}`]),
      ...(env === undefined ? [] : [`env: ${env}`]),
    ];
    const value = isSwitch(setting) ? "[true|false]" : "<value>";
    const note = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
    for (const name of flagsOf(setting)) {
      const isOther = flag !== undefined && name !== flag;
      const remark = aliasNote === undefined ? "" : `: ${aliasNote}`;
      const meaning = isOther ? `Another name of ${flag}${remark}` : setting.description + note;
      command.option(`${name} ${value}`, meaning);
    }
  }
  return command;
}
