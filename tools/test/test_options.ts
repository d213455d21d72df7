/**
 * Flags of `deno task test` and `deno task test:long`. Pure.
 *
 * @module
 */
import { Command, Option } from "commander";
import {
  type HelpText,
  numberWithin,
  parseTaskFlags,
  type UsageError,
} from "../../cli/task_flags.ts";

/** What one run of the tests selects and draws. */
export interface TestOptions {
  /** Files or folders below the project's root; empty: all of them. */
  readonly paths: readonly string[];
  /** Runs only tests with this text in the name, or a match of /it/. */
  readonly filter?: string;
  /** Adds `tests/long/`, draws new cases and measures coverage. */
  readonly long: boolean;
  /** Seed of the properties; absent: 1, or a random one with `long`. */
  readonly seed?: number;
  /** Cases of each property. */
  readonly cases: number;
  /** Groups of files that run at once; absent: one per CPU. */
  readonly jobs?: number;
}

/**
 * Cases of a property in the tests that each change must pass. With fewer some properties fail that
 * assert which situations their cases have reached.
 */
const CASES = 100;

/** The same in the long tests. */
const LONG_CASES = 2000;

/** fast-check's generators take 32 bits. */
const MOST_SEED = 2 ** 31 - 1;

/** Reads the arguments of the task. Never throws for what a user may type. */
export function parseTestOptions(
  args: readonly string[],
): { readonly kind: "run"; readonly options: TestOptions } | HelpText | UsageError {
  const command = testCommand();
  const read = parseTaskFlags<Partial<TestOptions>>(command, args);
  if (read.kind !== "flags") return read;
  const { long = false, ...flags } = read.flags;
  const cases = long ? LONG_CASES : CASES;
  return { kind: "run", options: { cases, long, ...flags, paths: command.args } };
}

function testCommand(): Command {
  const count = numberWithin({ least: 1, most: 1000, whole: true });
  return new Command("test")
    .description("Runs the tests that need no cluster, browser or Prometheus.")
    .argument("[paths...]", "test files or folders; without any, all tests")
    .option("--filter <text>", "only tests with the text in the name, or a match of /it/")
    .option("--long", "also tests/long, with new random cases, and coverage")
    .addOption(
      new Option("--seed <integer>", "seed of the properties; default 1, random with --long")
        .argParser(numberWithin({ least: -MOST_SEED, most: MOST_SEED, whole: true })),
    )
    .addOption(
      new Option("--cases <count>", `per property; default ${CASES}, ${LONG_CASES} with --long`)
        .argParser(numberWithin({ least: CASES, most: 1_000_000, whole: true })),
    )
    .addOption(
      new Option("--jobs <count>", "groups of files at once; default: one per CPU")
        .argParser(count),
    );
}
