/**
 * How all benchmarks read their command lines.
 *
 * @module
 */
import { type Command, CommanderError, InvalidArgumentError } from "commander";
import { collectedOutput } from "../../shared/config/command_line.ts";

/** A text to print and the exit code. */
export interface Answer {
  readonly exitCode: 0 | 2;
  readonly text: string;
}

/**
 * The values of a program's flags, or its help or complaint. `args` come without the program's name;
 * a first "--", which `deno task` hands on, is left out. Never throws for what a user may type.
 */
export function parseFlags<Flags extends object>(
  program: Command,
  args: readonly string[],
): Flags | Answer {
  let text = "";
  program.allowExcessArguments(false).exitOverride().configureOutput(
    collectedOutput({ take: (part) => text += part, complaints: true }),
  );
  try {
    return program.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" })
      .opts<Flags & Record<string, unknown>>();
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, text };
    throw error;
  }
}

/** Prints help to the output, a complaint to the error output; returns the exit code. */
export function printAnswer({ exitCode, text }: Answer): Answer["exitCode"] {
  (exitCode === 0 ? console.log : console.error)(text.trimEnd());
  return exitCode;
}

/** A whole number, at least 1. Throws an `InvalidArgumentError` for any other text. */
export function wholeNumber(text: string): number {
  const value = /^\d+$/.test(text) ? Number(text) : 0;
  if (value < 1 || !Number.isSafeInteger(value)) {
    throw new InvalidArgumentError("Expected a whole number, at least 1.");
  }
  return value;
}

/**
 * Parses names of `known`, separated by commas. Throws an `InvalidArgumentError` for any other name.
 */
export function namesAmong<Name extends string>(
  known: readonly Name[],
): (text: string) => Name[] {
  return (text) =>
    text.split(",").map((part) => {
      const found = known.find((name) => name === part.trim());
      if (found !== undefined) return found;
      throw new InvalidArgumentError(`Expected names of ${known.join(", ")}.`);
    });
}
