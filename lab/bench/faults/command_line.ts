/**
 * The command line of `deno task bench:faults`.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import type { Mutant } from "../../../tests/faults/mutants/mutant.ts";
import { MUTANTS } from "../../../tests/faults/mutants/mutants.ts";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** What is asked for. */
export interface FaultsRequest {
  /** Derived plans; spread over all when fewer. */
  readonly plans: number;
  /** Drawn runs. */
  readonly runs: number;
  readonly mutants: readonly Mutant[];
  readonly seed: number;
  readonly jobs: number;
  readonly json: boolean;
  /** A plan as JSON: plays it alone, and prints what it broke. */
  readonly replay?: string;
}

/** None of them, or so many. */
function count(text: string): number {
  return text === "0" ? 0 : wholeNumber(text);
}

/** All of them, the first ones, or those with a name that has this text. */
function someMutants(text: string): readonly Mutant[] {
  if (text === "all") return MUTANTS;
  if (/^\d+$/.test(text)) return MUTANTS.slice(0, Number(text));
  const named = MUTANTS.filter(({ name }) => name.includes(text));
  if (named.length > 0) return named;
  throw new InvalidArgumentError("Expected all, a whole number, or a part of a mutant's name.");
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
    .option("--mutants <n|all|name>", "planted bugs to find", someMutants, [])
    .option("--seed <n>", "of the first drawn run", wholeNumber, 1)
    .option("--jobs <n>", "plans at a time", wholeNumber, 1)
    .option("--replay <plan>", "play this plan, as a failing run prints it")
    .option("--json", "print one line of JSON instead of a table", false);
  return parseFlags<FaultsRequest>(program, args);
}
