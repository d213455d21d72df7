/**
 * The command line of `bench:cfs-model`.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { collectedOutput } from "../../shared/config/collected_output.ts";
import { wholeNumber } from "../whole_number.ts";

/** How to run it and how to print it. */
export interface CFSModelBench {
  readonly json: boolean;
  /** A few cells, three times each. */
  readonly quick: boolean;
  /** Runs of each cell; absent: as many as `quick` says. */
  readonly repetitions?: number;
}

/** A text to print and the exit code. */
export interface Answer {
  readonly exitCode: 0 | 2;
  readonly text: string;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): CFSModelBench | Answer {
  let text = "";
  const program = new Command("bench:cfs-model")
    .description(
      "The simulation's model of CPU quotas against the running kernel: the same loads in cgroups of " +
        "its own and in the model. Needs root and a quiet machine. Exit code 1 when they differ.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--quick", "a few cells, three times each: less than a minute", false)
    .option("--repetitions <n>", "runs of each cell (default: 5, or 3 with --quick)", wholeNumber)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }));
  try {
    return program.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" }).opts<
      CFSModelBench & Record<string, unknown>
    >();
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, text };
    throw error;
  }
}
