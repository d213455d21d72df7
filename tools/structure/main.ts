/**
 * Fails where the structure of the source is not as it should be: `deno task check:structure`.
 *
 * @module
 */
import { projectFiles } from "../project_files.ts";
import { structureFaults } from "./structure_faults.ts";

const root = new URL("../../", import.meta.url);
const paths = await Promise.all([".ts", ".md", ".yaml"].map((end) => projectFiles(root, end)));
const texts = await Promise.all(
  paths.flat().map(async (path) => [path, await Deno.readTextFile(new URL(path, root))] as const),
);
const faults = structureFaults(new Map(texts));
for (const fault of faults) console.error(fault);
console.log(`${texts.length} files, ${faults.length} faults`);
if (faults.length > 0) Deno.exit(1);
