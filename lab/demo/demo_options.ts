/**
 * The flags of the demo: what is asked for, or what is wrong with it. Pure.
 *
 * @module
 */
import { Command } from "commander";
import {
  addTraceFlags,
  filePath,
  FORMAT_HELP,
  missingTrace,
  numberWithin,
  parseTaskFlags,
  type TaskArguments,
  type TraceFlags,
  usageError,
} from "../task/task_flags.ts";
import type { TaskFlags } from "../task/task.ts";

/** The flags of the demo. */
export interface DemoOptions extends TaskFlags, TraceFlags {
  /** An integer of at most 31 bits and a sign. */
  readonly seed: number;
  /** Virtual minutes, 1 to 240. */
  readonly minutes: number;
  /** Pods on the node, 1 to 200. */
  readonly pods: number;
  /** Clients give up so many seconds after a request; 0: never. */
  readonly giveUp: number;
  /** Print one JSON object in place of tables and charts. */
  readonly json: boolean;
}

/** Seeds of the parts are made from it; they stay exact integers. */
const MOST_SEED = 2 ** 31 - 1;
const MOST_MINUTES = 240;
const MOST_PODS = 200;
const MOST_GIVE_UP = 3600;

/** Reads the arguments after the program's name. Never throws: a mistake is a value. */
export function parseDemoOptions(args: readonly string[]): TaskArguments<DemoOptions> {
  const read = parseTaskFlags<DemoOptions>(demoCommand(), args);
  const problem = read.kind === "flags" ? missingTrace(read.flags) : undefined;
  return problem === undefined ? read : usageError("demo", problem);
}

function demoCommand(): Command {
  const command = new Command("demo")
    .usage("[options]")
    .description(
      "Runs the market and static limits over the same load on a simulated node, in virtual\n" +
        "time, and shows what each did to the pods.",
    )
    .option(
      "--seed <integer>",
      "seed of all chance; the same seed gives the same figures",
      numberWithin({ min: -MOST_SEED, max: MOST_SEED, whole: true }),
      1,
    )
    .option(
      "--minutes <count>",
      `virtual minutes, 1 to ${MOST_MINUTES}`,
      numberWithin({ min: 1, max: MOST_MINUTES, whole: true }),
      30,
    )
    .option(
      "--pods <count>",
      `pods on the node, 1 to ${MOST_PODS}`,
      numberWithin({ min: 1, max: MOST_PODS, whole: true }),
      20,
    )
    .option(
      "--give-up <seconds>",
      "clients give up so long after a request; 0: never",
      numberWithin({ min: 0, max: MOST_GIVE_UP, whole: false }),
      10,
    );
  return addTraceFlags(command)
    .option("--json", "print one JSON object in place of tables and charts", false)
    .option("--report <path>", "where to write the report page", filePath, "report.html")
    .option("--no-report", "write no report page")
    .helpOption("-h, --help", "show this text")
    .addHelpText("after", `\nFormats of a trace:\n${FORMAT_HELP}`);
}
