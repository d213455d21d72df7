/**
 * The command line of the benchmark of rightsizing's pass.
 *
 * @module
 */
import { Command } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** How large the cluster is, and how to print. */
export interface RightsizingBench {
  readonly json: boolean;
  readonly workloads: number;
  /** Of each workload. */
  readonly pods: number;
  /** Of each pod. */
  readonly containers: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseRightsizingBench(args: readonly string[]): RightsizingBench | Answer {
  const program = new Command("bench:rightsizing")
    .description(
      "One whole pass of rightsizing over 24 h of usage, from empty caches: time, memory and\n" +
        "queries, and whether what is recommended is right. Exits with 1 when a goal is missed;\n" +
        "those of memory count from 5,000 containers on.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--workloads <n>", "Deployments", wholeNumber, 1000)
    .option("--pods <n>", "of each Deployment", wholeNumber, 1)
    .option("--containers <n>", "of each pod", wholeNumber, 5);
  return parseFlags<RightsizingBench>(program, args);
}
