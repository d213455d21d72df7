/**
 * The command line of the solver's benchmark.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** What to measure and how to print it. */
export interface SolverBench {
  readonly json: boolean;
  /** Batches a cell; the median of them counts. */
  readonly batches: number;
  /** Random clearings a mode for the residual. */
  readonly clearings: number;
  /** Seed of the random markets. */
  readonly seed: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): SolverBench | Answer {
  const program = new Command("bench:solver")
    .description("Times the market's clearing, and measures how far it is from the optimum.")
    .option("--json", "print JSON instead of tables", false)
    .option("--batches <n>", "timed batches a cell, of which the median counts", wholeNumber, 25)
    .option("--clearings <n>", "random clearings a mode for the residual", wholeNumber, 1000)
    .option("--seed <n>", "seed of the random markets", wholeNumber, 1);
  return parseFlags<SolverBench>(program, args);
}
