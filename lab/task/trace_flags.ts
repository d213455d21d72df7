/**
 * Flags of a trace, for all that plays one.
 *
 * @module
 */
import { type Command, Option } from "commander";
import { TRACE_FORMATS, type TraceFormat } from "../simulation/trace.ts";
import { filePath } from "./task_flags.ts";

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
