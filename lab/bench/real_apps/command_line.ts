/**
 * The command line of the benchmark of real programs.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { type Answer, namesAmong, parseFlags, wholeNumber } from "../parse_flags.ts";
import { APP_ALGORITHMS, type AppAlgorithm } from "./app_result.ts";

/** What to play and how to report it. */
export interface RealAppsBench {
  readonly json: boolean;
  readonly minutes: number;
  readonly runs: number;
  /** Of the first run; each has the next. */
  readonly seed: number;
  readonly algorithms: readonly AppAlgorithm[];
  /** Folder of the results, a file each. */
  readonly results: string;
  /** Play nothing: report the results that are there. */
  readonly report: boolean;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(args: readonly string[]): RealAppsBench | Answer {
  const program = new Command("bench:real-apps")
    .description(
      "nginx, redis and a Deno service as pods on a real node under open-loop load, with bursts in " +
        "turn; in the second half of a run beside a neighbour that takes all CPU. Needs root on the " +
        "node of the harness.",
    )
    .option("--json", "print JSON instead of a table", false)
    .option("--minutes <n>", "length of each run, 2 or more", minutes, 10)
    .option("--runs <n>", "runs of each algorithm", wholeNumber, 3)
    .option("--seed <n>", "seed of the first run's bursts; each has the next", wholeNumber, 1)
    .option("--algorithms <a,b>", `of ${APP_ALGORITHMS.join(", ")}`, namesAmong(APP_ALGORITHMS), [
      ...APP_ALGORITHMS,
    ])
    .option("--results <folder>", "where results are kept, a file each", "build/real-apps")
    .option("--report", "play nothing, report the results that are there", false);
  return parseFlags<RealAppsBench>(program, args);
}

/** Half a run holds one round of turns at least. */
function minutes(text: string): number {
  const value = wholeNumber(text);
  if (value < 2) throw new InvalidArgumentError("Expected 2 or more.");
  return value;
}
