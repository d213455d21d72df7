/**
 * The command line of the crowded scene.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, namesAmong, parseFlags, wholeNumber } from "../parse_flags.ts";
import { CROWD_ALGORITHMS, type CrowdAlgorithm } from "./crowd_result.ts";

/** What to play and how to report it. */
export interface CrowdedBench {
  readonly json: boolean;
  readonly minutes: number;
  readonly runs: number;
  /** Of the first run; each has the next. */
  readonly seed: number;
  readonly laws: readonly CrowdAlgorithm[];
  /** Folder of the results, a file each. */
  readonly results: string;
  /** Play nothing: report the results that are there. */
  readonly report: boolean;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): CrowdedBench | Answer {
  const program = new Command("bench:crowded")
    .description(
      "A node with quotas, a LimitRange, two priorities, an autoscaler, an opted-out pod, one that " +
        "is never Ready and eight equal workers, under load: what the server refuses, and what is " +
        "touched that should not be. With the product, and with its market off. Needs root on the " +
        "node of the harness. Exit code 1: a goal was not met.",
    )
    .option("--json", "print JSON instead of tables", false)
    .option("--minutes <n>", "length of each run", wholeNumber, 10)
    .option("--runs <n>", "runs of each algorithm", wholeNumber, 3)
    .option("--seed <n>", "seed of the first run's requests; each has the next", wholeNumber, 1)
    .option("--laws <a,b>", `of ${CROWD_ALGORITHMS.join(", ")}`, namesAmong(CROWD_ALGORITHMS), [
      ...CROWD_ALGORITHMS,
    ])
    .option("--results <folder>", "where results are kept, a file each", "build/crowded")
    .option("--report", "play nothing, report the results that are there", false);
  return parseFlags<CrowdedBench>(program, args);
}
