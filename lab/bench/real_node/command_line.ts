/**
 * The command line of the comparison on a real node.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, namesAmong, parseFlags, wholeNumber } from "../parse_flags.ts";
import { type AlgorithmName, ALGORITHMS } from "./algorithms.ts";

/** What to play and how to report it. */
export interface RealNodeBench {
  readonly json: boolean;
  readonly minutes: number;
  readonly seed: number;
  /** What all pods together use in the mean, millicores. */
  readonly load: number;
  readonly algorithms: readonly AlgorithmName[];
  /** Folder of the results, one file an algorithm. */
  readonly results: string;
  /** Play nothing: report the results that are there. */
  readonly report: boolean;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): RealNodeBench | Answer {
  const program = new Command("bench:real-node")
    .description(
      "Static limits, the market, HPA and VPA on a real node, one after another with the same " +
        "requests, and the node model beside them. Needs root on the node of the harness.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--minutes <n>", "length of each algorithm's run", wholeNumber, 15)
    .option("--seed <n>", "seed of sizes, bursts and requests", wholeNumber, 1)
    .option("--load <millicores>", "what all pods together use in the mean", wholeNumber, 320)
    .option("--algorithms <a,b>", `of ${ALGORITHMS.join(", ")}`, namesAmong(ALGORITHMS), [
      ...ALGORITHMS,
    ])
    .option("--results <folder>", "where results are kept, a file each", "build/real-node")
    .option("--report", "play nothing, report the results that are there", false);
  return parseFlags<RealNodeBench>(program, args);
}
