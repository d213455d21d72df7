/**
 * Plays designs of the control law against each other: `deno task bench:law`. It prints the table of
 * the decision record on the law.
 *
 * @module
 */
import { parseLawBench } from "./law/command_line.ts";
import { crowdedScene, judgedTraces, playVariant, type VariantRow } from "./law/play_variant.ts";
import { lawTable } from "./law/table.ts";
import { VARIANTS } from "./law/variants.ts";
import { printAnswer } from "./parse_flags.ts";

const request = parseLawBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { seed, minutes, json } = request;
const traces = await judgedTraces({ seed, minutes });
const crowd = await crowdedScene(seed);
const rows: VariantRow[] = [];
for (const variant of VARIANTS) {
  console.error(`${rows.length + 1} of ${VARIANTS.length}: ${variant.name}`);
  rows.push(await playVariant(variant, { traces, crowd, seed }));
}
console.log(json ? JSON.stringify({ seed, minutes, rows }, undefined, 2) : lawTable(rows));
