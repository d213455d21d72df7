/**
 * The command line of `bench:cfs-model`.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** How to run it and how to print it. */
export interface CFSModelBench {
  readonly json: boolean;
  /** A few cells, three times each. */
  readonly quick: boolean;
  /** Runs of each cell; absent: as many as `quick` says. */
  readonly repetitions?: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): CFSModelBench | Answer {
  const program = new Command("bench:cfs-model")
    .description(
      "The simulation's model of CPU quotas against the running kernel: the same loads in cgroups of " +
        "its own and in the model. Needs root and a quiet machine. Exit code 1 when they differ.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--quick", "a few cells, three times each: less than a minute", false)
    .option("--repetitions <n>", "runs of each cell (default: 5, or 3 with --quick)", wholeNumber);
  return parseFlags<CFSModelBench>(program, args);
}
