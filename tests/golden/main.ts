/**
 * Shows which golden outputs differ from those that are stored, and stores them: `deno task golden`.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import {
  golden,
  GOLDEN_PARTS,
  type GoldenPart,
  type GoldenRequest,
  storedOutputs,
} from "./golden.ts";

const NAMES = GOLDEN_PARTS.map(({ name }) => name);

function partsOf(text: string): readonly GoldenPart[] {
  const wanted = text.split(",").map((one) => one.trim());
  const unknown = wanted.find((one) => !NAMES.includes(one));
  if (unknown === undefined) return GOLDEN_PARTS.filter(({ name }) => wanted.includes(name));
  throw new InvalidArgumentError(`There is no part "${unknown}"; parts: ${NAMES.join(", ")}`);
}

function jsonOf(text: string, before: readonly string[]): readonly string[] {
  try {
    return [...before, JSON.stringify(JSON.parse(text))];
  } catch (error) {
    throw new InvalidArgumentError(error instanceof Error ? error.message : "");
  }
}

const program = new Command("golden")
  .description(
    "Computes the golden outputs and compares them with tests/golden/expected. Ends with code 1\n" +
      "when one differs, and shows the first difference.",
  )
  .option(
    "--append <input>",
    "adds a row to the one table of --only: its input, JSON; may be repeated",
    jsonOf,
    [],
  )
  .option("--accept", "store what differs", false)
  .option("--only <names>", "these parts, separated by commas", partsOf)
  .option("--verbose", "show how often each reason occurs in the decision tables", false)
  .addHelpText("after", `\nParts: ${NAMES.join(", ")}`)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" });
const { accept, append, only, verbose } = program.opts<
  Pick<GoldenRequest, "accept" | "append" | "verbose"> & { only?: readonly GoldenPart[] }
>();
if (append.length > 0 && only?.length !== 1) program.error("--append needs --only with one table");
Deno.exitCode = await golden({
  parts: only ?? GOLDEN_PARTS,
  known: GOLDEN_PARTS.map(({ file }) => file),
  append,
  accept,
  verbose,
  complete: Deno.env.get("CI") === "true",
}, {
  stored: storedOutputs(new URL("./expected/", import.meta.url)),
  out: (line) => console.log(line),
});
