/**
 * Plays designs of the control algorithm against each other: `deno task bench:algorithm`. It prints the
 * table of the decision record on the algorithm.
 *
 * @module
 */
import { parseAlgorithmBench } from "./algorithm/command_line.ts";
import {
  crowdedScene,
  judgedTraces,
  playVariant,
  type VariantRow,
} from "./algorithm/play_variant.ts";
import { algorithmTable } from "./algorithm/table.ts";
import { VARIANTS } from "./algorithm/variants.ts";
import { printAnswer } from "./parse_flags.ts";

const request = parseAlgorithmBench(Deno.args);
if ("exitCode" in request) Deno.exit(printAnswer(request));
const { seed, minutes, json } = request;
const traces = await judgedTraces({ seed, minutes });
const crowd = await crowdedScene(seed);
const rows: VariantRow[] = [];
for (const variant of VARIANTS) {
  console.error(`${rows.length + 1} of ${VARIANTS.length}: ${variant.name}`);
  rows.push(await playVariant(variant, { traces, crowd, seed }));
}
console.log(json ? JSON.stringify({ seed, minutes, rows }, undefined, 2) : algorithmTable(rows));
