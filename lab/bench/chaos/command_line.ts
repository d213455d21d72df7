/**
 * The command lines of chaos and soak, which are the same.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { type Answer, parseFlags, wholeNumber } from "../parse_flags.ts";

/** How long to play and how to report it. */
export interface LongRun {
  readonly json: boolean;
  readonly minutes: number;
  readonly seed: number;
  /** The product collects all garbage all the time; false where the program has no such flag. */
  readonly fullGc: boolean;
}

/** What the help says, the default length, and the least. */
export interface LongRunProgram {
  readonly name: string;
  readonly about: string;
  readonly minutes: number;
  /** @default {1} */
  readonly leastMinutes?: number;
  /** What its `--full-gc` is for; absent: it has none. */
  readonly fullGc?: string;
}

/** Parses the arguments without the program's name. Never throws for what a user may type. */
export function parseCommandLine(
  args: readonly string[],
  { name, about, minutes, leastMinutes = 1, fullGc }: LongRunProgram,
): LongRun | Answer {
  const length = (text: string): number => {
    const value = wholeNumber(text);
    if (value >= leastMinutes) return value;
    throw new InvalidArgumentError(`Expected ${leastMinutes} or more.`);
  };
  const program = new Command(name)
    .description(`${about} Needs root on the node of the harness.`)
    .option("--json", "print JSON instead of a table", false)
    .option("--minutes <n>", `length of the run, ${leastMinutes} or more`, length, minutes)
    .option("--seed <n>", "of all that is drawn", wholeNumber, 1);
  if (fullGc !== undefined) program.option("--full-gc", fullGc);
  const parsed = parseFlags<Omit<LongRun, "fullGc"> & { readonly fullGc?: true }>(program, args);
  return "exitCode" in parsed ? parsed : { ...parsed, fullGc: parsed.fullGc ?? false };
}
