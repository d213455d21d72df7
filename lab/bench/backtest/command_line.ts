/**
 * The command line of the back-test of rightsizing.
 *
 * @module
 */
import { Command, Option } from "commander";
import type { ResourceName } from "../../../shared/api/pod.ts";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** What to play and how to print it. */
export interface BackTestBench {
  readonly json: boolean;
  /** A history of the user's own in place of those that come with the project. */
  readonly data?: string;
  /** What that is of. */
  readonly resource: ResourceName;
  /** Between two looks of a rule. */
  readonly intervalMinutes: number;
  /** Played and not judged. */
  readonly warmUpHours: number;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseBackTestBench(args: readonly string[]): BackTestBench | Answer {
  const program = new Command("bench:back-test")
    .description(
      "Plays rules of rightsizing over recorded usage: what they would have covered and wasted,\n" +
        "how often a limit would have throttled, and how often memory would have been killed.",
    )
    .option("--json", "print JSON instead of tables", false)
    .option("--data <file>", "your own history: CSV of timestamp,value or a Prometheus export")
    .addOption(
      new Option("--resource <name>", "what --data is of: cpu in cores, memory in bytes")
        .choices(["cpu", "memory"]).default("cpu"),
    )
    .option("--interval-minutes <n>", "between two looks of a rule", wholeNumber, 60)
    .option("--warm-up-hours <n>", "played and not judged", wholeNumber, 24);
  return parseFlags<BackTestBench>(program, args);
}
