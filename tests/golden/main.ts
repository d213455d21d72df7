/**
 * Shows which golden outputs differ from those that are stored, and stores them: `deno task golden`.
 *
 * @module
 */
import { Command, InvalidArgumentError } from "commander";
import { golden, GOLDEN_PARTS, type GoldenPart } from "./golden.ts";
import { storedOutputs } from "./stored_outputs.ts";

const NAMES = GOLDEN_PARTS.map(({ name }) => name);

function partsOf(text: string): readonly GoldenPart[] {
  const wanted = text.split(",").map((one) => one.trim());
  const unknown = wanted.find((one) => !NAMES.includes(one));
  if (unknown === undefined) return GOLDEN_PARTS.filter(({ name }) => wanted.includes(name));
  throw new InvalidArgumentError(`There is no part "${unknown}"; parts: ${NAMES.join(", ")}`);
}

const { accept, only, verbose } = new Command("golden")
  .description(
    "Computes the golden outputs and compares them with tests/golden/expected. Ends with code 1\n" +
      "when one differs, and shows the first difference.",
  )
  .option("--accept", "store what differs", false)
  .option("--only <names>", "these parts, separated by commas", partsOf)
  .option("--verbose", "show how often each reason occurs in the decision tables", false)
  .addHelpText("after", `\nParts: ${NAMES.join(", ")}`)
  .parse(Deno.args[0] === "--" ? Deno.args.slice(1) : Deno.args, { from: "user" })
  .opts<{ accept: boolean; only?: readonly GoldenPart[]; verbose: boolean }>();
Deno.exitCode = await golden({
  parts: only ?? GOLDEN_PARTS,
  known: GOLDEN_PARTS.map(({ file }) => file),
  accept,
  verbose,
  complete: Deno.env.get("CI") === "true",
}, {
  stored: storedOutputs(new URL("./expected/", import.meta.url)),
  out: (line) => console.log(line),
});
