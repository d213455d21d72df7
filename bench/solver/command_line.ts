/**
 * The command line of the solver's benchmark.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { collectedOutput } from "../../shared/config/collected_output.ts";
import { wholeNumber } from "../whole_number.ts";

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

/** A text to print and the exit code. */
export interface Answer {
  readonly exitCode: 0 | 2;
  readonly text: string;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): SolverBench | Answer {
  let text = "";
  const program = new Command("bench:solver")
    .description("Times the market's clearing, and measures how far it is from the optimum.")
    .option("--json", "print JSON instead of tables", false)
    .option("--batches <n>", "timed batches a cell, of which the median counts", wholeNumber, 25)
    .option("--clearings <n>", "random clearings a mode for the residual", wholeNumber, 1000)
    .option("--seed <n>", "seed of the random markets", wholeNumber, 1)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }));
  try {
    return program.parse(args, { from: "user" }).opts<{
      json: boolean;
      batches: number;
      clearings: number;
      seed: number;
    }>();
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, text };
    throw error;
  }
}
