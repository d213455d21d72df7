/**
 * The command line of the check of modelled latencies.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { collectedOutput } from "../../shared/config/collected_output.ts";
import { wholeNumber } from "../whole_number.ts";

/** What to compute and how to print it. */
export interface LatencyBench {
  readonly json: boolean;
  /** Modelled runs for each figure. */
  readonly runs: number;
  /** Seed of the model. */
  readonly seed: number;
}

/** A text to print and the exit code. */
export interface Answer {
  readonly exitCode: 0 | 2;
  readonly text: string;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): LatencyBench | Answer {
  let text = "";
  const program = new Command("bench:latency-model")
    .description("Audits recorded latencies, and compares the node model's with them.")
    .option("--json", "print JSON instead of tables", false)
    .option("--runs <n>", "modelled runs for each figure", wholeNumber, 300)
    .option("--seed <n>", "seed of the model", wholeNumber, 1)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }));
  try {
    return program.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" }).opts<
      { json: boolean; runs: number; seed: number }
    >();
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, text };
    throw error;
  }
}
