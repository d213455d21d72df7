/**
 * The flags of the demo: what is asked for, or what is wrong with it. Pure.
 *
 * @module
 */
import { Command, Option } from "commander";
import { TRACE_FORMATS, type TraceFormat } from "../lab/simulation/trace.ts";
import { filePath, numberWithin } from "./flag_values.ts";
import { type HelpText, parseTaskFlags, type UsageError, usageError } from "./parse_task_flags.ts";

/** What the demo shall do. */
export interface DemoOptions {
  /** An integer of at most 31 bits and a sign. */
  readonly seed: number;
  /** Virtual minutes, 1 to 240. */
  readonly minutes: number;
  /** Pods on the node, 1 to 200. */
  readonly pods: number;
  /** Clients give up so many seconds after a request; 0: never. */
  readonly giveUp: number;
  /** A load of the user's own; without a format, its content shows it. */
  readonly trace?: { readonly path: string; readonly format?: TraceFormat };
  /** Print one JSON object in place of tables and charts. */
  readonly json: boolean;
  /** Where the page goes; absent if none is wanted. */
  readonly report?: string;
}

/** What the arguments mean. */
export type DemoArguments =
  | { readonly kind: "run"; readonly options: DemoOptions }
  | HelpText
  | UsageError;

/** Seeds of the parts are made from it; they stay exact integers. */
const MOST_SEED = 2 ** 31 - 1;
const MOST_MINUTES = 240;
const MOST_PODS = 200;
const MOST_GIVE_UP = 3600;

/** What commander hands over after parsing. */
interface ParsedFlags {
  readonly seed: number;
  readonly minutes: number;
  readonly pods: number;
  readonly giveUp: number;
  readonly trace?: string;
  readonly format?: TraceFormat;
  readonly json: boolean;
  readonly report: string | false;
}

/** Reads the arguments after the program's name. Never throws: a mistake is a value. */
export function parseDemoOptions(args: readonly string[]): DemoArguments {
  const read = parseTaskFlags<ParsedFlags>(demoCommand(), args);
  return read.kind === "flags" ? checked(read.flags) : read;
}

/** The rules that no single flag can check. */
function checked(flags: ParsedFlags): DemoArguments {
  const { seed, minutes, pods, giveUp, json, trace, format, report } = flags;
  if (format !== undefined && trace === undefined) {
    return usageError(
      "demo",
      `option '--format ${format}' says how to read a trace, but --trace is missing`,
    );
  }
  const source = trace === undefined
    ? {}
    : { trace: format === undefined ? { path: trace } : { path: trace, format } };
  const target = report === false ? {} : { report };
  return { kind: "run", options: { seed, minutes, pods, giveUp, json, ...source, ...target } };
}

function demoCommand(): Command {
  return new Command("demo")
    .usage("[options]")
    .description(
      "Runs the market and static limits over the same load on a simulated node, in virtual\n" +
        "time, and shows what each did to the pods.",
    )
    .addOption(
      new Option("--seed <integer>", "seed of all chance; the same seed gives the same figures")
        .default(1).argParser(numberWithin({ least: -MOST_SEED, most: MOST_SEED, whole: true })),
    )
    .addOption(
      new Option("--minutes <count>", `virtual minutes, 1 to ${MOST_MINUTES}`)
        .default(30).argParser(numberWithin({ least: 1, most: MOST_MINUTES, whole: true })),
    )
    .addOption(
      new Option("--pods <count>", `pods on the node, 1 to ${MOST_PODS}`)
        .default(20).argParser(numberWithin({ least: 1, most: MOST_PODS, whole: true })),
    )
    .addOption(
      new Option("--give-up <seconds>", "clients give up so long after a request; 0: never")
        .default(10).argParser(numberWithin({ least: 0, most: MOST_GIVE_UP, whole: false })),
    )
    .addOption(
      new Option("--trace <file>", "a load of your own, plain or gzipped").argParser(filePath),
    )
    .addOption(
      new Option("--format <format>", "how to read it; found by looking where left out")
        .choices(TRACE_FORMATS),
    )
    .option("--json", "print one JSON object in place of tables and charts", false)
    .addOption(
      new Option("--report <path>", "where to write the report page")
        .default("report.html").argParser(filePath),
    )
    .option("--no-report", "write no report page")
    .helpOption("-h, --help", "show this text")
    .addHelpText(
      "after",
      `
Formats of a trace:
  rps         one number per line: requests in each second
  cores       CSV of timestamp,value: CPU in use
  arrivals    CSV with the time of one request in the first column
  prometheus  JSON of a range query`,
    );
}
