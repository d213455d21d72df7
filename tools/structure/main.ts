/**
 * Compares the structure of the source with what is still allowed: `deno task check:structure`. With
 * `--list FOLDER` it prints the private words there; with `--write` it stores the counts, unless one of
 * the sums has grown.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { projectFiles } from "../project_files.ts";
import { growth, measureStructure, type StructureCounts, totalGrowth, totals } from "./measures.ts";
import { folderOf } from "./import_graph.ts";
import { privateWords } from "./vocabulary.ts";

const root = new URL("../../", import.meta.url);
const allowedFile = new URL("allowed.json", import.meta.url);
const { values } = parseArgs({
  args: Deno.args,
  options: { list: { type: "string" }, write: { type: "boolean" } },
});

const paths =
  (await Promise.all([".ts", ".md", ".yaml"].map((ending) => projectFiles(root, ending))))
    .flat();
const texts = new Map(
  await Promise.all(paths.map(async (path): Promise<[string, string]> => [
    path,
    await Deno.readTextFile(new URL(path, root)),
  ])),
);
const actual = measureStructure(texts);
const allowed: Partial<StructureCounts> = JSON.parse(await Deno.readTextFile(allowedFile));

if (values.list !== undefined) {
  for (const [path, text] of texts) {
    if (folderOf(path) !== values.list) continue;
    for (const { word, line, instead } of privateWords(text)) {
      console.log(`${path}:${line}: ${word}; instead: ${instead}`);
    }
  }
} else {
  const problems = (values.write ? totalGrowth : growth)(actual, allowed);
  for (const [measure, count] of Object.entries(totals(actual))) {
    console.log(`${measure}: ${count}`);
  }
  if (problems.length > 0) {
    console.error(problems.join("\n"));
    console.error(
      "A moved file may take its counts along: deno task check:structure --write; words of a folder: --list FOLDER",
    );
    Deno.exitCode = 1;
  } else if (values.write) {
    await Deno.writeTextFile(allowedFile, `${JSON.stringify(actual, null, 2)}\n`);
  }
}
