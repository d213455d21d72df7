/**
 * A program's command line, made from its settings.
 *
 * @module
 */
import { Command, CommanderError, type OutputConfiguration } from "commander";
import { nearestName } from "../nearest_name.ts";
import type { Effective } from "./load.ts";
import { flagsOf, settingsOf, type SettingsSchema } from "./setting.ts";

/** A program as its `--help` presents it. */
export interface SettingsProgram<S extends SettingsSchema> {
  readonly name: string;
  /** Its purpose, in one sentence. */
  readonly description: string;
  readonly schema: S;
  /**
   * The settings that it starts with although they have faults; undefined: it does not start.
   *
   * @default never starts with faults
   */
  readonly despiteFaults?: (readable: Effective<S>) => Effective<S> | undefined;
}

/** The content of a command line: texts by flag, faults, or the help that it requests. */
export type CommandFlags =
  | { readonly flags: ReadonlyMap<string, string>; readonly faults: readonly string[] }
  | { readonly help: string };

/**
 * Reads the arguments without the program's name. Nothing that a user may type makes it throw. One
 * `--` at the start is ignored: task runners pass it on.
 */
export function commandFlags<S extends SettingsSchema>(
  program: SettingsProgram<S>,
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
  const known = settingsOf(program.schema).flatMap(flagsOf);
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

function settingsCommand(
  { name, description, schema }: Omit<SettingsProgram<SettingsSchema>, "despiteFaults">,
): Command {
  const command = new Command(name).description(description).exitOverride()
    .allowUnknownOption().allowExcessArguments();
  for (const setting of settingsOf(schema)) {
    const { flag, env, default: text, aliasNote, isSwitch } = setting;
    const notes = [
      ...(text === "" ? [] : [`default: ${text}`]),
      ...(env === undefined ? [] : [`env: ${env}`]),
    ];
    const value = isSwitch ? "[true|false]" : "<value>";
    const note = notes.length === 0 ? "" : ` (${notes.join(", ")})`;
    const remark = aliasNote === undefined ? "" : `: ${aliasNote}`;
    for (const name of flagsOf(setting)) {
      const meaning = name === flag
        ? setting.description + note
        : `Another name of ${flag}${remark}`;
      command.option(`${name} ${value}`, meaning);
    }
  }
  return command;
}

const HELP_COLUMNS = 100;

/** Receivers of the text that the command-line library would print. */
export interface CollectedOutput {
  /** Takes parts of help texts. */
  readonly take: (part: string) => void;
  /** Whether it takes errors, too; otherwise they are dropped. @default {false} */
  readonly complaints?: boolean;
}

/**
 * Output options for the library's `configureOutput()`. Colours and width are set: the library would
 * else ask the environment for them, which a program may have no permission to read.
 */
export function collectedOutput(
  { take, complaints = false }: CollectedOutput,
): OutputConfiguration {
  return {
    writeOut: take,
    writeErr: complaints ? take : () => {},
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    getOutHelpWidth: () => HELP_COLUMNS,
    getErrHelpWidth: () => HELP_COLUMNS,
  };
}
