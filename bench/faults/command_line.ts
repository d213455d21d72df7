/**
 * The command line of `deno task bench:faults`.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { type Answer, parseFlags } from "../parse_flags.ts";
import { wholeNumber } from "../whole_number.ts";

/** What is asked for. */
export interface FaultsRequest {
  /** Derived plans; spread over all when fewer. */
  readonly plans: number;
  /** Drawn runs. */
  readonly runs: number;
  readonly mutants: number | "all";
  readonly seed: number;
  readonly jobs: number;
  readonly json: boolean;
  /** Ends at the first broken promise. */
  readonly untilFound: boolean;
  /** A plan as JSON: plays it alone, and prints what it broke. */
  readonly replay?: string;
}

/** None of them, or so many. */
function count(text: string): number {
  return text === "0" ? 0 : wholeNumber(text);
}

function mutantCount(text: string): number | "all" {
  if (text === "all") return text;
  try {
    return count(text);
  } catch {
    throw new InvalidArgumentError("Expected all, or a whole number.");
  }
}

/** Reads the flags. Never throws for what a user may type. */
export function parseFaultsBench(args: readonly string[]): FaultsRequest | Answer {
  const program = new Command("bench:faults")
    .description(
      "Plays the product in a simulated cluster under faults, and looks for broken promises. " +
        "Exit code 1: a promise was broken, or fewer than 90 % of the mutants were found.",
    )
    .option(
      "--plans <n>",
      "derived plans: a crash, an omission or a travel in time each",
      count,
      200,
    )
    .option("--runs <n>", "runs with drawn faults", count, 100)
    .option("--mutants <n|all>", "planted bugs to find", mutantCount, 0)
    .option("--seed <n>", "of the first drawn run", wholeNumber, 1)
    .option("--jobs <n>", "plans at a time", wholeNumber, 1)
    .option("--until-found", "end at the first broken promise", false)
    .option("--replay <plan>", "play this plan, as a failing run prints it")
    .option("--json", "print one line of JSON instead of a table", false);
  return parseFlags<FaultsRequest>(program, args);
}
