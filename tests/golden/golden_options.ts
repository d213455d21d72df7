/**
 * The flags of `deno task golden`.
 *
 * @module
 */
import { Command, InvalidArgumentError, Option } from "commander";
import { type HelpText, parseTaskFlags, type UsageError } from "../../cli/task_flags.ts";

/** What is asked for. */
export interface GoldenOptions {
  readonly accept: boolean;
  /** Names of parts. */
  readonly only: readonly string[];
  /** Whether notes are shown of parts that are unchanged. */
  readonly verbose: boolean;
}

/** What the arguments mean. */
export type GoldenArguments =
  | { readonly kind: "run"; readonly options: GoldenOptions }
  | HelpText
  | UsageError;

/** Reads the arguments after the program's name; `names` are those of all parts. */
export function parseGoldenOptions(
  args: readonly string[],
  { names }: { readonly names: readonly string[] },
): GoldenArguments {
  const read = parseTaskFlags<Partial<GoldenOptions>>(goldenCommand(names), args);
  if (read.kind !== "flags") return read;
  const { accept = false, only = names, verbose = false } = read.flags;
  return {
    kind: "run",
    options: { accept, only: names.filter((one) => only.includes(one)), verbose },
  };
}

function goldenCommand(names: readonly string[]): Command {
  const partNames = (value: string): string[] => {
    const wanted = value.split(",").map((one) => one.trim());
    const unknown = wanted.find((one) => !names.includes(one));
    if (unknown === undefined) return wanted;
    throw new InvalidArgumentError(`There is no part "${unknown}"; parts: ${names.join(", ")}`);
  };
  return new Command("golden")
    .usage("[options]")
    .description(
      "Computes the golden outputs and compares them with tests/golden/expected. Ends with code 1\n" +
        "when one differs, and shows the first difference.",
    )
    .option("--accept", "store what differs")
    .addOption(
      new Option("--only <names>", "these parts, separated by commas").argParser(partNames),
    )
    .option("--verbose", "show how often each reason occurs in the decision tables")
    .helpOption("-h, --help", "show this text")
    .addHelpText("after", `\nParts: ${names.join(", ")}`);
}
