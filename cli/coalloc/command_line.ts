/**
 * From arguments to the command that they name. Pure.
 *
 * @module
 */
import { CommanderError } from "commander";
import { collectedOutput } from "../../shared/config/command_line.ts";
import { coallocCommand } from "./coalloc_command.ts";

/** A command as the command line names it. */
export interface Call {
  readonly name: string;
  readonly operands: readonly string[];
  readonly flags: Readonly<Record<string, unknown>>;
}

/** What to print instead of running a command: help, a version, or what is wrong. */
export interface PlainAnswer {
  readonly text: string;
  readonly exitCode: 0 | 2;
}

/** Where a command is explained; without a name, the program. */
export function seeHelp(name?: string): string {
  return `see ${programOf(name)} --help`;
}

function programOf(name?: string): string {
  return name === undefined ? "kubectl coalloc" : `kubectl coalloc ${name}`;
}

/** Reads the command line; without arguments, its help is the answer. */
export function readCommandLine(args: readonly string[]): Call | PlainAnswer {
  let text = "";
  let call: Call | undefined;
  const root = coallocCommand((name, { operands, flags }) => {
    call = { name, operands, flags };
  });
  let failed: string | undefined;
  for (const command of [root, ...root.commands]) {
    command.exitOverride((error) => {
      failed = command === root ? undefined : command.name();
      throw error;
    }).configureOutput(collectedOutput({ take: (part) => text += part }));
  }
  // Task runners hand a "--" on.
  const tokens = args[0] === "--" ? args.slice(1) : args;
  if (tokens.length === 0) return { text: root.helpInformation(), exitCode: 0 };
  try {
    root.parse([...tokens], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { text, exitCode: 0 };
    const sentence = sentenceOf(error, root.args);
    const problem = `Cannot run ${programOf(failed)}: ${sentence}; ${seeHelp(failed)}\n`;
    return { text: problem, exitCode: 2 };
  }
  return call ?? { text: root.helpInformation(), exitCode: 0 };
}

function sentenceOf({ code, message }: CommanderError, tokens: readonly string[]): string {
  // The library's answer to flags alone, and to help for an unknown command, is the help as an error.
  if (code === "commander.help") {
    const [, topic] = tokens;
    return topic === undefined ? "no command is named" : `unknown command '${topic}'`;
  }
  return message.replace(/^error: /, "").trim().replaceAll(/\s*\n\s*/g, " ").replace(/\.$/, "");
}
