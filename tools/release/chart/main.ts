/**
 * Writes the made files of `charts/coallocator`: `deno task chart`. With `--check` it writes nothing and
 * fails when a file differs from what it would write.
 *
 * @module
 */
import { hasKubectl } from "../../../tests/manifests/rendered.ts";
import { presentText } from "../../present_text.ts";
import { chartFiles, OWN_TEMPLATES } from "./chart_files.ts";

const folder = new URL("../../../charts/coallocator/", import.meta.url);
const isCheck = Deno.args.includes("--check");

/** Writes or checks all files; resolves with the stale ones. */
async function keepChart(): Promise<readonly string[]> {
  const files = await chartFiles();
  const stale: string[] = [];
  for (const [file, text] of Object.entries(files)) {
    const path = new URL(file, folder);
    if (await presentText(path) === text) continue;
    stale.push(file);
    if (!isCheck) await Deno.writeTextFile(path, text);
  }
  for await (const { name } of Deno.readDir(new URL("templates/", folder))) {
    const file = `templates/${name}`;
    if (OWN_TEMPLATES.includes(name) || Object.hasOwn(files, file)) continue;
    stale.push(file);
    if (!isCheck) await Deno.remove(new URL(file, folder));
  }
  return stale;
}

if (!hasKubectl) {
  console.error("Cannot make the chart: kubectl is not installed");
  Deno.exit(isCheck && Deno.env.get("CI") !== "true" ? 0 : 1);
}
const stale = await keepChart();
const about = isCheck ? "is stale: run deno task chart" : "written";
for (const file of stale) console.error(`charts/coallocator/${file} ${about}`);
if (isCheck && stale.length > 0) Deno.exit(1);
