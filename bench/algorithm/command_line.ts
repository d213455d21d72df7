/**
 * The command line of the benchmark of control algorithms.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags } from "../parse_flags.ts";
import { wholeNumber } from "../whole_number.ts";

/** What to play and how to print it. */
export interface AlgorithmBench {
  readonly json: boolean;
  readonly seed: number;
  /** Virtual minutes of each trace: the busiest ones. */
  readonly minutes: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseAlgorithmBench(args: readonly string[]): AlgorithmBench | Answer {
  const program = new Command("bench:algorithm")
    .description(
      "Plays designs of the control algorithm on traces, on bursts and on a crowded node.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--seed <n>", "seed of arrivals, phases and delays", wholeNumber, 1)
    .option("--minutes <n>", "virtual minutes of each trace, the busiest ones", wholeNumber, 60);
  return parseFlags<AlgorithmBench>(program, args);
}
