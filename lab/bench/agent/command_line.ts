/**
 * The command line of the agent's benchmark.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** What to measure and how to print it. */
export interface AgentBench {
  readonly json: boolean;
  /** Length of a scene's measurement, and of the time before it. */
  readonly seconds: number;
  readonly warmUp: number;
  /** Sizes of the nodes. */
  readonly pods: readonly number[];
}

const SIZES = [30, 110, 250];

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): AgentBench | Answer {
  const program = new Command("bench:agent")
    .description("CPU and memory of the agent as shipped, by number of pods. Needs root.")
    .option("--json", "print JSON instead of a table", false)
    .option("--seconds <n>", "measured time of each scene", wholeNumber, 60)
    .option("--warm-up <n>", "seconds before it", wholeNumber, 300)
    .option("--pods <n,n>", "numbers of pods", wholeNumbers, SIZES);
  return parseFlags<AgentBench>(program, args);
}

function wholeNumbers(text: string): number[] {
  return text.split(",").map(wholeNumber);
}
