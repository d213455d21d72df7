/**
 * The command line of the benchmark of placement.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** How large the cluster is, and how to print. */
export interface PlacementBench {
  readonly json: boolean;
  readonly workloads: number;
  /** Of each workload. */
  readonly pods: number;
  /** Workloads that are changed, one after the other. */
  readonly changes: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parsePlacementBench(args: readonly string[]): PlacementBench | Answer {
  const program = new Command("bench:placement")
    .description(
      "The controller of placement beside an API in its own process: the memory that workloads and\n" +
        "pods cost it over an idle one, and the time from a change to its decision. Exits with 1 when\n" +
        "a goal is missed.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 10)
    .option("--changes <n>", "Deployments with a share that is changed", wholeNumber, 50);
  return parseFlags<PlacementBench>(program, args);
}
