/**
 * Writes the made files of `charts/coallocator`: `deno task chart`. With `--check` it writes nothing and
 * fails when a file differs from what it would write.
 *
 * @module
 */
import { hasKubectl } from "../../../tests/manifests/rendered.ts";
import { keepFiles } from "../../project_files.ts";
import { chartFiles, OWN_TEMPLATES } from "./chart_files.ts";

const FOLDER = "charts/coallocator/";
const isCheck = Deno.args.includes("--check");

if (!hasKubectl) {
  console.error("Cannot make the chart: kubectl is not installed");
  Deno.exit(isCheck && Deno.env.get("CI") !== "true" ? 0 : 1);
}
const entries = Object.entries(await chartFiles()).map(([file, text]) => [FOLDER + file, text]);
const files: Readonly<Record<string, string>> = Object.fromEntries(entries);
await keepFiles(files, "chart");
const templates = new URL(`../../../${FOLDER}templates/`, import.meta.url);
for await (const { name } of Deno.readDir(templates)) {
  const file = `${FOLDER}templates/${name}`;
  if (OWN_TEMPLATES.includes(name) || Object.hasOwn(files, file)) continue;
  if (!isCheck) {
    await Deno.remove(new URL(name, templates));
    continue;
  }
  console.error(`${file} is stale: run deno task chart`);
  Deno.exitCode = 1;
}
