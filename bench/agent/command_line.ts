/**
 * The command line of the agent's benchmark.
 *
 * @module
 */
import { Command, CommanderError } from "commander";
import { collectedOutput } from "../../shared/config/collected_output.ts";
import { wholeNumber } from "../whole_number.ts";

/** What to measure and how to print it. */
export interface AgentBench {
  readonly json: boolean;
  /** Length of a scene's measurement, and of the time before it. */
  readonly seconds: number;
  readonly warmUp: number;
  /** Sizes of the nodes. */
  readonly pods: readonly number[];
}

/** A text to print and the exit code. */
export interface Answer {
  readonly exitCode: 0 | 2;
  readonly text: string;
}

const SIZES = [30, 110, 250];

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): AgentBench | Answer {
  let text = "";
  const program = new Command("bench:agent")
    .description("CPU and memory of the agent as shipped, by number of pods. Needs root.")
    .option("--json", "print JSON instead of a table", false)
    .option("--seconds <n>", "measured time of each scene", wholeNumber, 60)
    .option("--warm-up <n>", "seconds before it", wholeNumber, 300)
    .option("--pods <n,n>", "numbers of pods", wholeNumbers, SIZES)
    .allowExcessArguments(false)
    .exitOverride()
    .configureOutput(collectedOutput({ take: (part) => text += part, complaints: true }));
  try {
    return program.parse(args[0] === "--" ? args.slice(1) : args, { from: "user" }).opts<
      AgentBench & { pods: number[] }
    >();
  } catch (error) {
    if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : 2, text };
    throw error;
  }
}

function wholeNumbers(text: string): number[] {
  return text.split(",").map(wholeNumber);
}
