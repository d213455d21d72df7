/**
 * How the programs that are tasks read their arguments, and flags that several programs take: those of a
 * trace, for all that plays one.
 *
 * @module
 */
import { type Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { collectedOutput } from "../../shared/config/command_line.ts";
import { kindMeta, type NumberBounds, numberKind, valueOf } from "../../shared/config/kinds.ts";
import { TRACE_FORMATS, type TraceFormat } from "../simulation/trace.ts";

/** The parsed arguments, before rules that no single flag can check. */
export type TaskArguments<Flags> =
  | { readonly kind: "flags"; readonly flags: Flags }
  | { readonly kind: "help"; readonly text: string }
  | UsageError;

/** A mistake in the arguments, as a sentence for the user. */
export interface UsageError {
  readonly kind: "usage-error";
  readonly message: string;
}

/**
 * Reads the arguments after the program's name; a first "--", which `deno task` passes on, is left out.
 * Never throws for what a user may type.
 */
export function parseTaskFlags<Flags extends object>(
  command: Command,
  args: readonly string[],
): TaskArguments<Flags> {
  let text = "";
  command.allowExcessArguments(false).exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part }));
  try {
    command.parse(args[0] === "--" ? args.slice(1) : [...args], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    return error.code === "commander.helpDisplayed"
      ? { kind: "help", text }
      : usageError(command.name(), error.message.replace(/^error: /, ""));
  }
  return { kind: "flags", flags: command.opts<Flags & Record<string, unknown>>() };
}

/** A mistake as one sentence that points to the help of the task. */
export function usageError(task: string, problem: string): UsageError {
  const sentence = problem.trim().replaceAll(/\s*\n\s*/g, " ").replace(/\.$/, "");
  return {
    kind: "usage-error",
    message: `Cannot run the ${task}: ${sentence}; see deno task ${task} --help`,
  };
}

/** A parser of numbers within bounds. */
export function numberWithin(bounds: NumberBounds): (text: string) => number {
  const kind = numberKind(bounds);
  return (text) => {
    const value = valueOf(kind, text);
    if (value === undefined) throw new InvalidArgumentError(`Give ${kindMeta(kind).expects}`);
    return value;
  };
}

const MOST_GIVE_UP_S = 3600;

/** A path that does not swallow the next flag. */
export function filePath(text: string): string {
  if (text.trim() === "" || text.includes("\0")) {
    throw new InvalidArgumentError("Give the path of a file");
  }
  if (text.startsWith("-")) {
    throw new InvalidArgumentError(`Give a path; a file of that name is ./${text}`);
  }
  return text;
}

/** The trace of the user's own, where there is one. */
export interface TraceFlags {
  readonly trace?: string;
  /** Without a format, its content shows it. */
  readonly format?: TraceFormat;
}

/** The formats, for the end of a help. */
export const FORMAT_HELP = `\
  rps         one number per line: requests in each second
  cores       CSV of timestamp,value: CPU in use
  arrivals    CSV with the time of one request in the first column
  prometheus  JSON of a range query, in cores`;

/** `--format`, described as the command needs it. */
export function formatOption(description: string): Option {
  return new Option("--format <format>", description).choices(TRACE_FORMATS);
}

/** `--give-up`: after how many seconds clients give up. */
export function giveUpOption(): Option {
  return new Option("--give-up <seconds>", "clients give up so long after a request; 0: never")
    .argParser(numberWithin({ min: 0, max: MOST_GIVE_UP_S })).default(10);
}

/** Adds `--trace` and `--format`. */
export function addTraceFlags(command: Command): Command {
  return command.option("--trace <file>", "a load of your own, plain or gzipped", filePath)
    .addOption(formatOption("how to read it; read from the content where left out"));
}

/** Why a flag needs a trace that is missing; undefined when nothing is wrong. */
export function missingTrace(
  { trace, format, scaleP95 }: TraceFlags & { readonly scaleP95?: number },
): string | undefined {
  if (trace !== undefined) return undefined;
  if (format !== undefined) {
    return `option '--format ${format}' says how to read a trace, but --trace is missing`;
  }
  return scaleP95 === undefined
    ? undefined
    : `option '--scale-p95 ${scaleP95}' says how to scale a trace, but --trace is missing`;
}
