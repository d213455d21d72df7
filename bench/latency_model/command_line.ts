/**
 * The command line of the check of modelled latencies.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags } from "../parse_flags.ts";
import { wholeNumber } from "../whole_number.ts";

/** What to compute and how to print it. */
export interface LatencyBench {
  readonly json: boolean;
  /** Modelled runs for each figure. */
  readonly runs: number;
  /** Seed of the model. */
  readonly seed: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): LatencyBench | Answer {
  const program = new Command("bench:latency-model")
    .description("Audits recorded latencies, and compares the node model's with them.")
    .option("--json", "print JSON instead of tables", false)
    .option("--runs <n>", "modelled runs for each figure", wholeNumber, 300)
    .option("--seed <n>", "seed of the model", wholeNumber, 1);
  return parseFlags<LatencyBench>(program, args);
}
