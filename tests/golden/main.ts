/**
 * `deno task golden`: outputs that a refactoring must leave byte for byte.
 *
 * @module
 */
import { computeParts } from "./compute_parts.ts";
import { golden } from "./golden.ts";
import { parseGoldenOptions } from "./golden_options.ts";
import { GOLDEN_PARTS } from "./golden_parts.ts";
import { storedOutputs } from "./stored_outputs.ts";

const FOLDER = new URL("./expected/", import.meta.url);

const parsed = parseGoldenOptions(Deno.args, { names: GOLDEN_PARTS.map(({ name }) => name) });
if (parsed.kind === "help") {
  console.log(parsed.text.trimEnd());
} else if (parsed.kind === "usage-error") {
  console.error(parsed.message);
  Deno.exitCode = parsed.exitCode;
} else {
  const { accept, only, verbose } = parsed.options;
  const parts = GOLDEN_PARTS.filter(({ name }) => only.includes(name));
  Deno.exitCode = await golden({
    files: new Map(parts.map(({ name, file }) => [name, file])),
    known: GOLDEN_PARTS.map(({ file }) => file),
    accept,
    verbose,
    complete: Deno.env.get("CI") === "true",
  }, {
    compute: (names) => computeParts(names, { cores: navigator.hardwareConcurrency }),
    stored: storedOutputs(FOLDER),
    out: (line) => console.log(line),
  });
}
